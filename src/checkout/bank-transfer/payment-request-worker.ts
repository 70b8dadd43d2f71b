import { parentPort, workerData } from 'node:worker_threads'
import { openCertificateFonts } from '../../certificates/certificate-fonts.js'
import { drawPaymentRequest, type PaymentRequest } from './draw-payment-request.js'

/* The worker thread that draws a payment request. */
const { request, fontPath } = workerData as PaymentRequestTask
const fonts = openCertificateFonts(fontPath)
const isPrintable = (text: string): boolean => fonts.findMissingScripts(text).length === 0
const customer = request.customer.filter(isPrintable)
parentPort?.postMessage(await drawPaymentRequest({ ...request, customer }, fonts))

export interface PaymentRequestTask {
  request: PaymentRequest
  /** CERTIFICATE_FONT */
  fontPath: string | undefined
}
