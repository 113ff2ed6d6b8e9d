import { render } from 'preact'
import { openSession, watchActivity } from './account/session.ts'
import { Console } from './frame/console.tsx'
import { watchKeys } from './frame/keys.ts'
import { watchPlace } from './frame/place.ts'
import { watchPresence } from './frame/presence.ts'
import { restoreTheme } from './frame/theme.ts'
import { watchTime } from './frame/time.ts'

const root = document.getElementById('console')
if (root === null) throw new Error('the page has no place for the console')
restoreTheme()
watchPlace()
watchKeys()
watchPresence()
watchTime()
watchActivity()
void openSession()
render(<Console />, root)
