/** The package's browser bundle: it needs no shims for Node's modules, which the main entry does. */
declare module 'simple-peer/simplepeer.min.js' {
  import SimplePeer from 'simple-peer'
  export default SimplePeer
}
