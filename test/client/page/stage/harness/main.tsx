/** Shows one picture of the stage as the query asks: ?view=timetable&p=7&algo=butterfly&r=1&mode=steps&cursor=2.5 */
import '@fontsource-variable/atkinson-hyperlegible-next'
import '@fontsource-variable/atkinson-hyperlegible-mono'
import '../../../../../client/page/styles/tokens.css'
import { render } from 'preact'
import { views } from './views.tsx'

const query = new URLSearchParams(location.search)
document.documentElement.dataset.theme = query.get('theme') ?? 'light'
if (query.has('projector')) document.documentElement.style.fontSize = '28px'
const View = views[query.get('view') ?? 'timetable']
const root = document.getElementById('root')
if (root && View) render(<View query={query} />, root)
