/**
 * The layers of the house as rules: who may import whom. ARCHITECTURE.md draws them; test/rules/layers.test.ts proves
 * that each rule reports a file that breaks it.
 */

/** Who may import an npm package, and nobody else in the product. */
const onlyFrom = (name, comment, from, packages) => ({
  name,
  comment,
  severity: 'error',
  from: { path: '^(shared|server|client)/', pathNot: from },
  to: { path: `node_modules/(@types/)?(${packages})(/|$)` },
})

const forbid = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to })

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    forbid(
      'shared-stands-alone',
      'shared/ runs in tabs, workers and Node and knows nothing of who uses it',
      { path: '^shared/' },
      { path: '^(client|server|test|docs)/' },
    ),
    forbid(
      'product-without-tests',
      'what people run does not need the tests or the guides',
      { path: '^(shared|server|client)/' },
      { path: '^(test|docs)/' },
    ),
    forbid(
      'server-without-client',
      'the server brokers; what it says to clients is in shared/signaling',
      { path: '^server/' },
      { path: '^client/' },
    ),
    forbid(
      'client-without-server',
      'only the command line starts a server',
      { path: '^client/', pathNot: '^client/cli/' },
      { path: '^server/' },
    ),
    forbid(
      'library-without-page',
      'the library and the command line do not need the page, nor the page the command line',
      { path: '^client/(?!page/)' },
      { path: '^client/page/' },
    ),
    forbid(
      'page-without-cli',
      'the command line runs on Node, the page and the library do not',
      { path: '^client/(?!cli/)' },
      { path: '^client/cli/' },
    ),
    forbid(
      'browser-without-node',
      'client/rtc/node*.ts loads a native module that no browser has',
      { path: '^client/(page/|index\\.ts$)' },
      { path: '^client/rtc/node' },
    ),
    forbid(
      'links-without-worker',
      'a worker is one place for a group on links; join() is given it',
      { path: '^client/rtc/' },
      { path: '^client/worker/' },
    ),
    forbid(
      'session-needs-only-a-group',
      'runs that a room makes together go on in tabs and in headless peers, over any group',
      { path: '^client/session/' },
      { path: '^client/(?!session/)' },
    ),

    forbid(
      'base-is-the-ground',
      'shared/base has no opinion and imports nothing else',
      { path: '^shared/base/' },
      { path: '^shared/(?!base/)' },
    ),
    forbid(
      'schedule-is-pure',
      'a schedule knows neither bytes nor time: shared/schedule imports only shared/base',
      { path: '^shared/schedule/' },
      { path: '^shared/(?!(schedule|base)/)' },
    ),
    forbid(
      'middle-below-collective',
      'transport, membership, cost, wire and signaling are used by the collective, not the other way',
      { path: '^shared/(transport|membership|cost|wire|signaling)/' },
      { path: '^shared/(collective|federated)/' },
    ),
    forbid(
      'collective-below-federated',
      'the collective stands alone as a library',
      { path: '^shared/collective/' },
      { path: '^shared/(federated|bench)/' },
    ),

    onlyFrom(
      'one-file-knows-simple-peer',
      'the WebRTC library stays replaceable',
      '^client/rtc/simplePeer\\.(d\\.)?ts$',
      'simple-peer',
    ),
    onlyFrom(
      'one-file-knows-socket-io-client',
      'the signalling transport stays replaceable',
      '^client/rtc/signaling\\.ts$',
      'socket\\.io-client',
    ),
    onlyFrom(
      'server-packages',
      'sockets, logs, metrics and files are the server’s',
      '^server/',
      'socket\\.io|pino|prom-client|rate-limiter-flexible|sirv',
    ),
    onlyFrom(
      'one-file-knows-node-datachannel',
      'the native WebRTC of headless peers is behind one file',
      '^client/rtc/node[^/]*\\.ts$',
      'node-datachannel',
    ),
    forbid(
      'node-only-at-the-edge',
      'Node’s own modules exist in the server, the command line and headless peers',
      { path: '^(shared|server|client)/', pathNot: '^(server/|client/cli/|client/rtc/node[^/]*\\.ts$)' },
      { dependencyTypes: ['core'] },
    ),
    forbid(
      'shared-needs-no-package',
      'shared/ has no npm dependency but valibot, where foreign input is parsed',
      { path: '^shared/' },
      { path: 'node_modules/', pathNot: 'node_modules/valibot/' },
    ),
    forbid(
      'valibot-where-input-is-parsed',
      'foreign input enters shared/ in signaling, wire, the control messages of the collective, checkpoints and plans of benchmarks',
      { path: '^shared/', pathNot: '^shared/(signaling|wire|collective|federated|bench)/' },
      { path: 'node_modules/valibot/' },
    ),
    forbid(
      'no-dev-dependency-at-run-time',
      'an installation without devDependencies must run',
      { path: '^(shared|server|client)/' },
      { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'], pathNot: 'node_modules/@types/' },
    ),

    forbid(
      'no-cycles',
      'files that need each other at run time are one file; a shared type may go round',
      {},
      { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    ),
    {
      name: 'no-cycles-between-folders',
      comment: 'folders of shared/ that import each other are one folder',
      severity: 'error',
      scope: 'folder',
      from: { path: '^shared/' },
      to: { circular: true },
    },
    forbid(
      'everything-resolves',
      'an import that leads nowhere breaks at run time',
      { path: '^(shared|server|client|test|docs)/' },
      { couldNotResolve: true },
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '[.](css|html|svg|woff2)' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.d.ts', '.js', '.json'],
    },
  },
}
