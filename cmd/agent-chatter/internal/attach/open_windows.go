package attach

import "os"

const openFlag = os.O_RDONLY
