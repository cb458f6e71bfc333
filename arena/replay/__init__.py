"""A recorded match played again from its moves: steps, cards, transcripts."""
