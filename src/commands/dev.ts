// Started anew by `npm run dev` at every change of code, template or static file.
import './build-assets.js'

await import('../server.js')
