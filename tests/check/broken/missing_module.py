# mistake: no-module
# names: The module no_such_package is missing
import no_such_package

no_such_package.play()
