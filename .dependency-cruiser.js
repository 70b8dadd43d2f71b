/**
 * The folders of `src`, in the order of dependency: a folder imports only from folders above it.
 * docs/architecture.md describes them.
 */
const FOLDERS = [
  'core',
  'database',
  'events',
  'mail',
  'audit',
  'accounts',
  'calculator',
  'qr-codes',
  'orders',
  'nocodb',
  'provider',
  'payments',
  'certificates',
  'checkout',
  'webhooks',
  'dashboard',
  'api-docs',
  'demo',
  'commands',
]

/** What a folder imports from below it nevertheless: [importing file, imported file]. */
const EXCEPTIONS = {
  orders: [['orders/export/(payment-columns|export-worker)', 'payments/(payment|payment-reader)']],
}

/** Rules against imports from the folders below; an exception permits one file one import. */
const downwards = FOLDERS.slice(0, -1).flatMap((folder, index) => {
  const below = `^src/(${FOLDERS.slice(index + 1).join('|')})/`
  const exceptions = EXCEPTIONS[folder] ?? []
  const files = exceptions.map(([from]) => `^src/${from}\\.ts$`)
  return [
    {
      name: `${folder}-imports-from-above`,
      severity: 'error',
      from: { path: `^src/${folder}/`, pathNot: files },
      to: { path: below },
    },
    ...exceptions.map(([from, to]) => ({
      name: `${folder}-imports-from-above`,
      severity: 'error',
      from: { path: `^src/${from}\\.ts$` },
      to: { path: below, pathNot: `^src/${to}\\.ts$` },
    })),
  ]
})

/**
 * Import rules of `src`, checked by `npm run lint`.
 *
 * @type {import('dependency-cruiser').IConfiguration}
 */
export default {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-unused-modules',
      comment: 'Every module is reached from an entry point.',
      severity: 'error',
      from: { orphan: true, pathNot: '\\.d\\.ts$' },
      to: {},
    },
    {
      name: 'folders-are-listed',
      comment: 'A new folder gets a place in the order.',
      severity: 'error',
      from: { path: '^src/[^/]+/', pathNot: `^src/(${FOLDERS.join('|')})/` },
      to: {},
    },
    {
      name: 'composition-is-on-top',
      comment: 'Only the processes import the composition.',
      severity: 'error',
      from: { pathNot: '^src/(server|start-server|app)\\.ts$|^src/commands/' },
      to: { path: '^src/(app|config-parts|server|start-server|server-options)\\.ts$' },
    },
    ...downwards,
    {
      name: 'calculations-know-no-framework',
      comment:
        'Calculations, the order domain and the stores are independent of Fastify; plugins, routes and pages are not.',
      severity: 'error',
      from: {
        path: '^src/(calculator|orders|nocodb|database)/',
        pathNot:
          '^src/orders/pages/|/(calculator|orders|events|erasure|export|pages|routes|[a-z-]+-(pages|routes|plugin)|state-store|stream-orders|freshness-header|open-order-store)\\.ts$',
      },
      to: { path: '^node_modules/(fastify|@fastify)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'stores-are-behind-their-interface',
      comment: 'Others use order-store.ts; import and export read and write database rows in bulk.',
      severity: 'error',
      from: { pathNot: '^src/(orders/(store|import|export)|nocodb|commands|demo)/' },
      to: {
        path: '^src/(orders/store/|nocodb/)',
        pathNot:
          '(store/(order-store|open-order-store|search-text)|nocodb/nocodb|-(config|settings))\\.ts$',
      },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { extensions: ['.ts', '.js'] },
  },
}
