import type { FastifyReply } from 'fastify'
import { SETTINGS_SECTIONS } from './settings-sections.js'

/** Renders a settings page with the settings navigation, or its fragment. */
export const renderSettings = (
  reply: FastifyReply,
  views: { page: string; fragment?: string },
  data: object,
): Promise<FastifyReply> =>
  reply.renderView(views, {
    administrator: reply.request.administrator,
    sections: SETTINGS_SECTIONS.filter(({ permission }) => reply.request.can(permission)).map(
      (section) => ({ ...section, isCurrent: reply.request.url.startsWith(section.href) }),
    ),
    ...data,
  })
