// Restarted by `npm run dev` when code, templates or static files change.
import './build-assets.js'

await import('../server.js')
