import type { QrCode } from './generate-qr-code.js'
import type { PrefillLinks } from './prefill-link.js'

export interface QrCodeOptions {
  links: PrefillLinks
  /** Called with every generated code */
  onGenerated: (code: QrCode) => void
}
