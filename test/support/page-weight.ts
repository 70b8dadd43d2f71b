import type { Page } from 'playwright-core'

/** Opens a page; returns the bytes transferred and the paths requested. The cache must be empty. */
export async function measurePageWeight(
  page: Page,
  address: string,
): Promise<{ bytes: number; paths: string[] }> {
  const network = await page.context().newCDPSession(page)
  await network.send('Network.enable')
  // Chromium reports data URLs as requests.
  const dataUrls = new Set<string>()
  const paths: string[] = []
  let bytes = 0
  network.on('Network.requestWillBeSent', ({ requestId, request }) => {
    if (request.url.startsWith('data:')) dataUrls.add(requestId)
    else paths.push(new URL(request.url).pathname)
  })
  network.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (!dataUrls.has(requestId)) bytes += encodedDataLength
  })
  await page.goto(address, { waitUntil: 'networkidle' })
  return { bytes, paths }
}
