import { parentPort, workerData } from 'node:worker_threads'
import { openCertificateFonts } from './certificate-fonts.js'
import { drawCertificate } from './draw-certificate.js'
import type { DrawTask } from './certificate-pdf.js'

/* The worker thread that draws a certificate. */
const { sheet, fontPath } = workerData as DrawTask
parentPort?.postMessage(await drawCertificate(sheet, openCertificateFonts(fontPath)))
