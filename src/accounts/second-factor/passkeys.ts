import { createHash, randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import type {
  AuthenticatorTransport,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server'
import { Type, type Static, type TSchema } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { createSigner } from '../../core/config/secrets.js'
import { Problem } from '../../core/http/problem.js'
import { checker } from '../../core/validation/field-errors.js'
import { parseJson } from '../../core/validation/formats.js'
import type { KeyValueStore } from '../../database/state-store/state-store.js'
import type { Passkey, SecondFactorStore } from './second-factor-store.js'

const TTL_MS = 5 * 60_000
const NONCE_BYTES = 16

/**
 * Signed WebAuthn challenges. Nothing is stored until a browser returns a challenge, because anyone
 * can request challenges.
 */
function createChallenges(secrets: readonly [string, ...string[]], stateStore: KeyValueStore) {
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

/** Base64url of at most 1,023 bytes (WebAuthn level 3, 7.1) */
const CredentialId = Type.String({ pattern: '^[\\w-]{1,1364}$' })

/** What the WebAuthn API of a browser returns (WebAuthn level 3, 5.1). */
const createSchema = <S extends TSchema>(response: S) =>
  Type.Object({
    id: CredentialId,
    rawId: CredentialId,
    type: Type.Literal('public-key'),
    clientExtensionResults: Type.Object({}),
    response,
  })

const Registration = createSchema(
  Type.Object({
    clientDataJSON: Type.String(),
    attestationObject: Type.String(),
    transports: Type.Optional(
      Type.Unsafe<AuthenticatorTransport[]>(Type.Array(Type.String(), { maxItems: 20 })),
    ),
  }),
)

const Authentication = createSchema(
  Type.Object({
    clientDataJSON: Type.String(),
    authenticatorData: Type.String(),
    signature: Type.String(),
    userHandle: Type.Optional(Type.String()),
  }),
)

const SIGN_IN = 'sign-in'
const getRegistrationPurpose = (email: string): string => `register ${email}`

/** 422: the passkey is not valid, or its account cannot sign in. */
export const createPasskeyProblem = (): Problem =>
  new Problem(422, 'The passkey could not be verified. Try again, or use another way to sign in.')

/** Returns a function that checks the types in a credential; the library verifies the content. */
function createParser<S extends TSchema>(schema: S): (json: string) => Static<S> {
  const check = checker(schema)
  return (json) => {
    const result = check(parseJson(json))
    if (!result.ok) throw createPasskeyProblem()
    return result.value
  }
}

const parseRegistration = createParser(Registration)
const parseAuthentication = createParser(Authentication)

/** Identifies the account to authenticators. Does not contain the email. */
const getUserHandle = (email: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(createHash('sha256').update(`clearwake user ${email}`).digest())

/**
 * Passkeys (WebAuthn level 3). They require user verification (PIN or biometrics), so a passkey
 * counts as two factors and can be used without a password.
 */
export function createPasskeys(
  app: Pick<FastifyInstance, 'config' | 'stateStore' | 'publicBaseUrl' | 'brand'>,
  store: SecondFactorStore,
) {
  const challenges = createChallenges(app.config.sessionSecrets, app.stateStore)
  // Passkeys are bound to the host name of the service.
  const { hostname: rpID, origin, protocol } = new URL(app.publicBaseUrl())
  const isHostName = isIP(rpID.replace(/^\[|\]$/g, '')) === 0
  // Loaded on demand: 300 kB of code that few requests need
  const load = () => import('@simplewebauthn/server')

  return {
    /**
     * Browsers support passkeys only on host names (not IP addresses), over HTTPS or on localhost.
     */
    isAvailable: isHostName && (protocol === 'https:' || /(?:^|\.)localhost$/.test(rpID)),

    async createRegistration(email: string): Promise<PublicKeyCredentialCreationOptionsJSON> {
      const { generateRegistrationOptions } = await load()
      const { passkeys } = await store.find(email)
      return generateRegistrationOptions({
        rpName: app.brand.name,
        rpID,
        userName: email,
        userDisplayName: email,
        userID: getUserHandle(email),
        challenge: challenges.issue(getRegistrationPurpose(email)),
        attestationType: 'none',
        excludeCredentials: passkeys.map(({ id, transports }) => ({ id, transports })),
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      })
    },

    /**
     * Returns the passkey that a browser created. Throws a Problem (422) if it is not valid.
     *
     * @param json what the browser returned
     */
    async verifyRegistration(email: string, name: string, json: string): Promise<Passkey> {
      const response = parseRegistration(json)
      const { verifyRegistrationResponse } = await load()
      const { verified, registrationInfo } = await verifyRegistrationResponse({
        response,
        expectedChallenge: (challenge) =>
          challenges.consume(getRegistrationPurpose(email), challenge),
        expectedOrigin: origin,
        expectedRPID: rpID,
        requireUserVerification: true,
      }).catch((error: unknown) => {
        throw toRejection(error)
      })
      if (!verified) throw createPasskeyProblem()
      const { id, publicKey, counter, transports } = registrationInfo.credential
      return {
        id,
        email,
        name,
        publicKey: Buffer.from(publicKey).toString('base64url'),
        signCount: counter,
        transports: transports ?? [],
        createdAt: Date.now(),
        lastUsedAt: null,
      }
    },

    async createSignIn(): Promise<PublicKeyCredentialRequestOptionsJSON> {
      const { generateAuthenticationOptions } = await load()
      return generateAuthenticationOptions({
        rpID,
        challenge: challenges.issue(SIGN_IN),
        userVerification: 'required',
      })
    },

    /** Returns the passkey that a browser signed in with. Throws as `verifyRegistration` does. */
    async verifySignIn(json: string): Promise<Passkey> {
      const response = parseAuthentication(json)
      const passkey = await store.findPasskey(response.id)
      if (passkey === null) throw createPasskeyProblem()
      const { verifyAuthenticationResponse } = await load()
      const { verified, authenticationInfo } = await verifyAuthenticationResponse({
        response,
        expectedChallenge: (challenge) => challenges.consume(SIGN_IN, challenge),
        expectedOrigin: origin,
        expectedRPID: rpID,
        credential: {
          id: passkey.id,
          publicKey: new Uint8Array(Buffer.from(passkey.publicKey, 'base64url')),
          counter: passkey.signCount,
        },
        requireUserVerification: true,
      }).catch((error: unknown) => {
        throw toRejection(error)
      })
      if (!verified) throw createPasskeyProblem()
      await store.recordUse(passkey.id, authenticationInfo.newCounter)
      return passkey
    },
  }
}

/** For invalid responses, the library throws plain instances of `Error`. */
function toRejection(error: unknown): unknown {
  const isOurs = error instanceof Problem || (error as Error).name.startsWith('Database')
  return isOurs ? error : createPasskeyProblem()
}
