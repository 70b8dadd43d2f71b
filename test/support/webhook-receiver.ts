import type { Test } from 'tap'
import { recordingUpstream, type Recorded, type RecordingUpstream } from './recording-upstream.js'

export interface ReceivedWebhook {
  id: string
  /** As received, UTF-8 */
  body: string
  headers: Record<string, string>
  event: { type: string; timestamp: string; data: any }
}

const toWebhook = ({ headers, body }: Recorded): ReceivedWebhook => {
  const text = Buffer.from(body, 'latin1').toString()
  return {
    id: String(headers['webhook-id']),
    body: text,
    headers: headers as Record<string, string>,
    event: JSON.parse(text) as ReceivedWebhook['event'],
  }
}

/** Starts a server that receives webhooks on loopback; it responds with 200 by default. */
export async function startReceiver(
  t: Test,
): Promise<RecordingUpstream & { received: () => ReceivedWebhook[] }> {
  const upstream = await recordingUpstream(t, '/hook')
  return Object.assign(upstream, { received: () => upstream.requests.map(toWebhook) })
}
