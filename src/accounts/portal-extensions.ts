import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import type { Permission } from './permissions.js'
import { findUser } from './session.js'

/** A page of the settings, as its feature adds it. */
interface SettingsPage {
  href: string
  label: string
  permission: Permission
}

/** An entry of the portal's navigation. */
interface NavigationEntry {
  /** The templates of its pages pass it to the layout as `current` */
  name: string
  href: string
  label: string
  /** `null` if every user may open it */
  permission: Permission | null
  /** Entries are sorted by it */
  position: number
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Adds an entry to the portal's navigation. */
    addNavigation: (entry: NavigationEntry) => void
    /** Pages of the portal, which are registered in one scope after all features */
    portalPages: FastifyPluginAsync[]
    /** The settings, sorted by label */
    settings: {
      addPage: (page: SettingsPage) => void
      /** The pages that the user of a request may open */
      list: (request: FastifyRequest) => SettingsPage[]
    }
  }
  interface FastifyReply {
    /** Renders a settings page with the settings navigation, or its fragment. */
    renderSettings: (
      views: { page: string; fragment?: string },
      data: object,
    ) => Promise<FastifyReply>
  }
}

const MAIL = { config: { permission: 'mail:manage' } } as const

/** Redirects to the first page of the settings. */
const settingsPages: FastifyPluginAsync = async (app) => {
  // Each page has its own permission; every role that has one of them also has `mail:manage`.
  app.get('/admin/settings', MAIL, async (request, reply) => {
    const [first] = app.settings.list(request)
    return reply.redirect(first?.href ?? '/admin', 303)
  })
}

/** What features add to the portal: pages, and entries of its navigation and of the settings. */
export default fp(
  async (app) => {
    app.decorate('portalPages', [settingsPages])
    const navigation: NavigationEntry[] = []
    app.decorate('addNavigation', (entry) => {
      navigation.push(entry)
      navigation.sort((a, b) => a.position - b.position)
    })
    app.addViewContext((request) => ({
      // Guests have no navigation, and requests for static files not even `can`.
      navigation:
        findUser(request) === null
          ? []
          : navigation.filter(({ permission }) => permission === null || request.can(permission)),
    }))
    app.addNavigation({
      name: 'settings',
      href: '/admin/settings',
      label: 'Settings',
      permission: 'mail:manage',
      position: 90,
    })
    const pages: SettingsPage[] = []
    app.decorate('settings', {
      addPage(page) {
        pages.push(page)
        pages.sort((a, b) => a.label.localeCompare(b.label, 'en'))
      },
      list: (request) => pages.filter(({ permission }) => request.can(permission)),
    })
    app.decorateReply('renderSettings', async function (this: FastifyReply, views, data) {
      const { request } = this
      const sections = app.settings
        .list(request)
        .map((section) => ({ ...section, isCurrent: request.url.startsWith(section.href) }))
      return this.renderView(views, { sections, ...data })
    })
  },
  { name: 'portal-extensions', dependencies: ['permissions', 'views'] },
)
