import type { FastifyBaseLogger } from 'fastify'
import { Redis } from 'ioredis'
import { Problem } from '../http/problem.js'
import type { KeyValueStore } from './key-value-store.js'

const PREFIX = 'clearwake:'

const TIMEOUT_MS = 800
const MAX_RECONNECT_DELAY_MS = 1000

const CONSUME = `
local consumed = tonumber(redis.call('get', KEYS[1]) or '0')
if consumed >= tonumber(ARGV[1]) then return math.max(1, redis.call('pttl', KEYS[1])) end
if redis.call('incr', KEYS[1]) == 1 then redis.call('pexpire', KEYS[1], ARGV[2]) end
return 0`

// An expired counter must not reappear below zero and without an expiry.
const REFUND = `
local consumed = tonumber(redis.call('get', KEYS[1]) or '0')
if consumed > 1 then redis.call('decr', KEYS[1]) else redis.call('del', KEYS[1]) end
return 0`

export interface RedisStore extends KeyValueStore {
  /** Never throws. */
  isAvailable(): Promise<boolean>
  close(): void
}

/**
 * State shared through Redis. Waits briefly for the first connection. While there is none, it
 * reconnects in the background and every call fails at once.
 */
export async function connectRedisStore(url: string, log: FastifyBaseLogger): Promise<RedisStore> {
  const redis = new Redis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: TIMEOUT_MS,
    commandTimeout: TIMEOUT_MS,
    // Replace a connection that has gone silent.
    socketTimeout: 2 * TIMEOUT_MS,
    retryStrategy: (times) => Math.min(times * 100, MAX_RECONNECT_DELAY_MS),
  })
  // Only the code is logged: the URL may contain a password.
  let isUnavailable = false
  redis.on('error', (error: NodeJS.ErrnoException) => {
    if (!isUnavailable) log.error({ code: error.code ?? error.name }, 'redis is unavailable')
    isUnavailable = true
  })
  redis.on('ready', () => {
    if (isUnavailable) log.info('redis is available again')
    isUnavailable = false
  })

  async function run<T>(command: Promise<T>): Promise<T> {
    try {
      return await command
    } catch {
      throw new Problem(
        503,
        'The administrator area is unavailable at the moment. Try again in a few seconds.',
        {
          headers: { 'retry-after': '5' },
        },
      )
    }
  }

  // A failure is logged above, and the client keeps reconnecting.
  await Promise.race([
    redis.connect().catch(() => undefined),
    new Promise((resolve) => setTimeout(resolve, TIMEOUT_MS).unref()),
  ])

  return {
    async set(key, ttlMs) {
      await run(redis.set(PREFIX + key, '1', 'PX', ttlMs))
    },
    has: async (key) => (await run(redis.exists(PREFIX + key))) === 1,
    consume: async (key, { limit, windowMs }) =>
      Number(await run(redis.eval(CONSUME, 1, PREFIX + key, limit, windowMs))),
    async refund(key) {
      await run(redis.eval(REFUND, 1, PREFIX + key))
    },
    isAvailable: async () =>
      redis.ping().then(
        () => true,
        () => false,
      ),
    close: () => redis.disconnect(),
  }
}
