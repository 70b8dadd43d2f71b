import { parentPort, workerData } from 'node:worker_threads'
import { openCertificateFonts } from './certificate-fonts.js'
import type { DrawTask } from './certificate-pdf.js'
import { drawCertificate } from './draw-certificate.js'

/* The worker thread that draws a certificate. */
const { sheet, fontPath } = workerData as DrawTask
parentPort?.postMessage(await drawCertificate(sheet, openCertificateFonts(fontPath)))
