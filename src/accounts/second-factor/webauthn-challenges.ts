import { randomBytes } from 'node:crypto'
import { createSigner } from '../../core/config/signer.js'
import type { KeyValueStore } from '../../database/state-store/key-value-store.js'

const TTL_MS = 5 * 60_000
const NONCE_BYTES = 16

/**
 * Signed WebAuthn challenges. Nothing is stored until a browser returns a challenge, because anyone
 * can request challenges.
 */
export function createChallenges(
  secrets: readonly [string, ...string[]],
  stateStore: KeyValueStore,
) {
  const signer = createSigner(secrets, 'webauthn challenge v1')
  const sign = (purpose: string, nonce: string, expiresAt: string): string =>
    signer.sign(JSON.stringify([purpose, nonce, expiresAt]))

  return {
    /** @param purpose the action, and the account if it is known */
    issue(purpose: string): Uint8Array<ArrayBuffer> {
      const nonce = randomBytes(NONCE_BYTES).toString('base64url')
      const expiresAt = (Date.now() + TTL_MS).toString(36)
      const text = [nonce, expiresAt, sign(purpose, nonce, expiresAt)].join('.')
      return new TextEncoder().encode(text)
    },

    /** Whether a returned challenge is valid for a purpose; `true` at most once per challenge. */
    async consume(purpose: string, challenge: unknown): Promise<boolean> {
      if (typeof challenge !== 'string') return false
      const parts = Buffer.from(challenge, 'base64url').toString().split('.')
      const [nonce = '', expiresAt = '', signature = ''] = parts
      const isSigned = signer.verify(JSON.stringify([purpose, nonce, expiresAt]), signature)
      if (!isSigned || parseInt(expiresAt, 36) <= Date.now()) return false
      const budget = { limit: 1, windowMs: TTL_MS }
      return (await stateStore.consume(`webauthn:${nonce}`, budget)) === 0
    },
  }
}
