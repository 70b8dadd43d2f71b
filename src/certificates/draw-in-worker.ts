import { startWorker, toWorkerError } from '../database/start-worker.js'
import { createKeyedMutex } from '../database/state-store/keyed-mutex.js'
import type { CertificateSheet } from './draw-certificate.js'

export interface DrawTask {
  sheet: CertificateSheet
  /** CERTIFICATE_FONT */
  fontPath: string | undefined
}

/** One at a time, because drawing keeps a CPU core busy. */
const inSequence = createKeyedMutex()

/**
 * Draws a certificate in a worker thread, because shaping its text in the main thread would delay
 * all requests.
 */
export const drawInWorker = (task: DrawTask): Promise<Buffer> =>
  inSequence(
    'certificate',
    () =>
      new Promise((resolve, reject) => {
        const worker = startWorker('certificates/draw-worker', task)
        worker.unref()
        worker.once('message', (pdf: Uint8Array) => resolve(Buffer.from(pdf)))
        worker.once('error', (error) => reject(toWorkerError(error)))
        // This has no effect if the certificate has already arrived.
        worker.once('exit', () => reject(new Error('the worker exited without a certificate')))
      }),
  )
