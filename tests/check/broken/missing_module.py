# mistake: not-found
# names: No module named 'no_such_package'
import no_such_package

no_such_package.play()
