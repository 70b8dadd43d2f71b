import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { problemResponses } from '../core/http/problem.js'
import {
  changeAccount,
  createDuplicateProblem,
  deleteAccount,
  inviteAccount,
  removeSecondFactor,
} from './account-actions.js'
import { AccountChanges, ManagedAccount, NewAccount } from './account-schemas.js'

const id = ManagedAccount.properties.id
const AccountList = Type.Object(
  { items: Type.Array(Type.Object(ManagedAccount.properties)) },
  { title: 'Accounts' },
)
const CreatedAccount = Type.Object(
  {
    ...ManagedAccount.properties,
    inviteUrl: Type.String({
      description:
        'URL where the person chooses a password; works once, within 72 hours, and is not shown again',
    }),
  },
  { title: 'Created account' },
)

const config = { permission: 'accounts:manage' } as const
const tags = ['Accounts']
const BODY_LIMIT = 16 * 1024

/** API for owners to manage user accounts. */
const routes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/api/admin/accounts',
    {
      config,
      schema: {
        tags,
        operationId: 'listAccounts',
        summary: 'List accounts',
        response: { 200: AccountList, ...problemResponses },
      },
    },
    async () => ({ items: await app.accounts.list() }),
  )

  app.post(
    '/api/admin/accounts',
    {
      config,
      bodyLimit: BODY_LIMIT,
      // Not compressed, because the compressed size of a response can reveal its token (BREACH).
      compress: false,
      schema: {
        tags,
        operationId: 'createAccount',
        summary: 'Invite a person',
        description:
          'Creates an account and a link with which the person chooses a password. The link is also sent by email if emails are configured.',
        body: NewAccount,
        response: { 201: CreatedAccount, ...problemResponses },
      },
    },
    async (request, reply) => {
      const { role } = request.body
      const email = request.body.email.toLowerCase()
      const created = await inviteAccount(request, { email, role })
      if (created === null) throw createDuplicateProblem(email)
      const { account, inviteUrl } = created
      return reply.code(201).send({ ...account, inviteUrl })
    },
  )

  app.patch(
    '/api/admin/accounts/:id',
    {
      config,
      bodyLimit: BODY_LIMIT,
      schema: {
        tags,
        operationId: 'updateAccount',
        summary: 'Change the role of an account, or disable it',
        description:
          'Takes effect immediately and ends the sessions of the account. You cannot change your own account.',
        params: Type.Object({ id }),
        body: AccountChanges,
        response: { 200: ManagedAccount, ...problemResponses },
      },
    },
    async (request) => changeAccount(request, request.params.id, request.body),
  )

  app.delete(
    '/api/admin/accounts/:id/second-factor',
    {
      config,
      schema: {
        tags,
        operationId: 'removeSecondFactor',
        summary: 'Remove the second factors of an account',
        description:
          'For a person who has lost their devices and recovery codes. Removes passkeys, authenticator app and recovery codes, and ends the sessions of the account. You cannot change your own account.',
        params: Type.Object({ id }),
        response: { 200: ManagedAccount, ...problemResponses },
      },
    },
    async (request) => removeSecondFactor(request, request.params.id),
  )

  app.delete(
    '/api/admin/accounts/:id',
    {
      config,
      schema: {
        tags,
        operationId: 'deleteAccount',
        summary: 'Delete an account',
        description: 'Its sessions and links end immediately. You cannot delete your own account.',
        params: Type.Object({ id }),
        response: { 204: Type.Null({ description: 'Deleted' }), ...problemResponses },
      },
    },
    async (request, reply) => {
      await deleteAccount(request, request.params.id)
      return reply.code(204).send(null)
    },
  )
}

export default routes
