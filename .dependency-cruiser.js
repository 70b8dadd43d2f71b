/**
 * The folders of `src`, in the order of dependency: a folder imports only from folders above it.
 * docs/architecture.md describes them. A folder that is not listed comes last.
 */
const FOLDERS = [
  'core',
  'database',
  'outbox',
  'mail',
  'audit',
  'accounts',
  'calculator',
  'qr-codes',
  'orders',
  'nocodb',
  'provider',
  'payments',
  'exports',
  'certificates',
  'checkout',
  'webhooks',
  'dashboard',
  'api-docs',
  'demo',
  'commands',
]

/** Rules against imports from the folders below. */
const downwards = FOLDERS.slice(0, -1).map((folder, index) => ({
  name: `${folder}-imports-from-above`,
  severity: 'error',
  from: { path: `^src/${folder}/` },
  to: { path: `^src/(${FOLDERS.slice(index + 1).join('|')})/` },
}))

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
      name: 'unlisted-folders-are-last',
      comment: 'No folder imports from one that has no place in the order yet.',
      severity: 'error',
      from: { path: '^src/([^/]+)/' },
      to: { path: '^src/[^/]+/', pathNot: [`^src/(${FOLDERS.join('|')})/`, '^src/$1/'] },
    },
    {
      name: 'composition-is-on-top',
      comment: 'Only the processes import the composition.',
      severity: 'error',
      from: { pathNot: '^src/(server|start-server|app)\\.ts$|^src/commands/' },
      to: { path: '^src/(app|config-parts|server|start-server)\\.ts$' },
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
          '^src/orders/pages/|/(calculator|orders|order-events|erasure|pages|[a-z-]+-(pages|routes|plugin)|state-store|open-order-store)\\.ts$',
      },
      to: { path: '^node_modules/(fastify|@fastify)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'stores-are-behind-their-interface',
      comment:
        'Others use order-store.ts; import and exports write and read database rows in bulk.',
      severity: 'error',
      from: { pathNot: '^src/(orders/(store|import)|exports|nocodb|commands|demo)/' },
      to: {
        path: '^src/(orders/store/|nocodb/)',
        pathNot:
          '(store/(order-store|open-order-store|projections|search-text)|nocodb/nocodb|-(config|settings))\\.ts$',
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
