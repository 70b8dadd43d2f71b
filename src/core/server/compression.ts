import { constants } from 'node:zlib'
import compress from '@fastify/compress'
import fp from 'fastify-plugin'

/** Compresses responses with the encoding that the client accepts. */
export default fp(
  async (app) => {
    await app.register(compress, {
      globalDecompression: false,
      encodings: ['br', 'gzip'],
      // Flush every write, so that the first part of a streamed page is sent immediately.
      brotliOptions: {
        flush: constants.BROTLI_OPERATION_FLUSH,
        params: { [constants.BROTLI_PARAM_QUALITY]: 4 },
      },
      zlibOptions: { flush: constants.Z_SYNC_FLUSH },
    })
  },
  { name: 'compression' },
)
