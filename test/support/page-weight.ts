import type { Page } from 'playwright-core'

/** Opens a page with an empty cache; returns the bytes transferred and the paths requested. */
export async function measurePageWeight(
  page: Page,
  address: string,
): Promise<{ bytes: number; paths: string[] }> {
  const network = await page.context().newCDPSession(page)
  await network.send('Network.enable')
  // Embedded data URLs are reported like requests.
  const embedded = new Set<string>()
  const paths: string[] = []
  let bytes = 0
  network.on('Network.requestWillBeSent', ({ requestId, request }) => {
    if (request.url.startsWith('data:')) embedded.add(requestId)
    else paths.push(new URL(request.url).pathname)
  })
  network.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (!embedded.has(requestId)) bytes += encodedDataLength
  })
  await page.goto(address, { waitUntil: 'networkidle' })
  return { bytes, paths }
}
