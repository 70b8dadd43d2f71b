import { constants } from 'node:zlib'
import compress from '@fastify/compress'
import fp from 'fastify-plugin'

/** Compresses answers as the client likes. */
export default fp(
  async (app) => {
    await app.register(compress, {
      globalDecompression: false,
      encodings: ['br', 'gzip'],
      // Flushing at every write lets a page's first part out before the rest is there.
      brotliOptions: {
        flush: constants.BROTLI_OPERATION_FLUSH,
        params: { [constants.BROTLI_PARAM_QUALITY]: 4 },
      },
      zlibOptions: { flush: constants.Z_SYNC_FLUSH },
    })
  },
  { name: 'compression' },
)
