import type { FastifyBaseLogger } from 'fastify'
import { Redis } from 'ioredis'
import { Problem } from '../http/problem.js'
import type { KeyValueStore } from './key-value-store.js'

const PREFIX = 'clearwake:'

/** Longer than Redis ever takes, and short enough for a person who waits. */
const PATIENCE_MS = 800
const LONGEST_PAUSE_MS = 1000

const TAKE = `
local taken = tonumber(redis.call('get', KEYS[1]) or '0')
if taken >= tonumber(ARGV[1]) then return math.max(1, redis.call('pttl', KEYS[1])) end
if redis.call('incr', KEYS[1]) == 1 then redis.call('pexpire', KEYS[1], ARGV[2]) end
return 0`

// A count that is gone must not come back below zero, and for ever.
const GIVE_BACK = `
local taken = tonumber(redis.call('get', KEYS[1]) or '0')
if taken > 1 then redis.call('decr', KEYS[1]) else redis.call('del', KEYS[1]) end
return 0`

export interface RedisStore extends KeyValueStore {
  /** Whether Redis answers; never throws. */
  isThere(): Promise<boolean>
  close(): void
}

/**
 * The memory of processes that share a Redis. Waits a moment for the first connection; where
 * there is none, and whenever it is lost, goes on trying while everything else is refused at once.
 */
export async function connectRedisStore(url: string, log: FastifyBaseLogger): Promise<RedisStore> {
  const redis = new Redis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: PATIENCE_MS,
    commandTimeout: PATIENCE_MS,
    // A connection that has gone silent is replaced, not waited for.
    socketTimeout: 2 * PATIENCE_MS,
    retryStrategy: (times) => Math.min(times * 100, LONGEST_PAUSE_MS),
  })
  // Nothing but the code is logged: the address may hold a password.
  let isAway = false
  redis.on('error', (error: NodeJS.ErrnoException) => {
    if (!isAway) log.error({ code: error.code ?? error.name }, 'redis is away')
    isAway = true
  })
  redis.on('ready', () => {
    if (isAway) log.info('redis is back')
    isAway = false
  })

  async function ask<T>(command: Promise<T>): Promise<T> {
    try {
      return await command
    } catch {
      throw new Problem(503, 'Administrators cannot be served at the moment: try again shortly.', {
        headers: { 'retry-after': '5' },
      })
    }
  }

  // Where it fails, the error has been noted above, and attempts go on.
  await Promise.race([
    redis.connect().catch(() => undefined),
    new Promise((resolve) => setTimeout(resolve, PATIENCE_MS).unref()),
  ])

  return {
    async remember(key, milliseconds) {
      await ask(redis.set(PREFIX + key, '1', 'PX', milliseconds))
    },
    remembers: async (key) => (await ask(redis.exists(PREFIX + key))) === 1,
    take: async (key, { most, windowMs }) =>
      Number(await ask(redis.eval(TAKE, 1, PREFIX + key, most, windowMs))),
    async giveBack(key) {
      await ask(redis.eval(GIVE_BACK, 1, PREFIX + key))
    },
    isThere: async () =>
      redis.ping().then(
        () => true,
        () => false,
      ),
    close: () => redis.disconnect(),
  }
}
