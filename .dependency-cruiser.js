/**
 * Import rules of `src`, checked by `npm run lint`: portal and routes -> domain -> order store
 * interface -> database. docs/architecture.md describes the folders.
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
      name: 'composition-is-on-top',
      comment: 'Only the processes import the composition.',
      severity: 'error',
      from: { pathNot: '^src/(server|start-server|app)\\.ts$|^src/commands/' },
      to: { path: '^src/(app|server|start-server|server-options)\\.ts$|^src/commands/' },
    },
    {
      name: 'helpers-know-no-feature',
      severity: 'error',
      from: { path: '^src/(config|database|formatting|http|state-store|validation)/' },
      to: { pathNot: '^src/(config|database|formatting|http|state-store|validation)/|^[^s]' },
    },
    {
      name: 'plugins-know-no-feature',
      comment: 'Shared plugins know sign-in and the configuration of features, nothing else.',
      severity: 'error',
      from: { path: '^src/plugins/' },
      to: {
        path: '^src/(calculator|demo|fulfilment|order-store|ordering|orders|portal|provider|qr-code)/',
        pathNot: '-(config|settings)\\.ts$',
      },
    },
    {
      name: 'portal-is-on-top',
      severity: 'error',
      from: { pathNot: '^src/(app\\.ts$|portal/)' },
      to: { path: '^src/portal/' },
    },
    {
      name: 'demo-is-for-its-command',
      severity: 'error',
      from: { pathNot: '^src/(commands|demo)/' },
      to: { path: '^src/demo/' },
    },
    {
      name: 'calculations-know-no-framework',
      comment:
        'Calculator, order domain and stores are independent of Fastify; routes and pages are not.',
      severity: 'error',
      from: {
        path: '^src/(calculator|orders|order-store|database|fulfilment)/',
        pathNot:
          '/(calculator|pages|routes|[a-z-]+-routes|orders|export|stream-orders|freshness-headers|open-order-store)\\.ts$',
      },
      to: { path: '^node_modules/(fastify|@fastify)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'stores-are-behind-their-interface',
      comment: 'Others use order-store.ts; import and export read and write database rows in bulk.',
      severity: 'error',
      from: { pathNot: '^src/(order-store|commands|demo|plugins|orders/(import|export))/' },
      to: { path: '^src/order-store/(sqlite|postgres|nocodb)/' },
    },
    {
      name: 'sqlite-knows-no-nocodb',
      severity: 'error',
      from: { path: '^src/order-store/sqlite/' },
      to: { path: '^src/order-store/nocodb/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { extensions: ['.ts', '.js'] },
  },
}
