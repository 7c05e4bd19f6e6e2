/** The addresses under which people reach the server. */
import type { NetworkInterfaceInfo } from 'node:os'

export interface Urls {
  /** On this machine. */
  readonly local: string
  /** From other machines, most likely first; empty when the server listens on this machine only. */
  readonly lan: readonly string[]
}

type Interfaces = Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>

/** Interfaces of containers, virtual machines and tunnels: rarely where the other people are. */
const inner = /^(docker|br-|veth|virbr|vmnet|vboxnet|tun|utun|tap|wg|tailscale|zt)/

export function urlsOf(bound: { address: string; port: number }, interfaces: Interfaces): Urls {
  const { address, port } = bound
  if (address === '127.0.0.1' || address === '::1') return { local: url('localhost', port), lan: [] }
  if (address !== '::' && address !== '0.0.0.0')
    return { local: url(address, port), lan: [url(address, port)] }
  const found = Object.entries(interfaces)
    .flatMap(([name, infos]) => (infos ?? []).map((info) => ({ name, ...info })))
    // Link-local IPv6 addresses need a zone, which browsers do not take.
    .filter((info) => !info.internal && !info.address.startsWith('fe80:'))
    .filter((info) => address === '::' || info.family === 'IPv4')
  const v4 = found.filter(({ family }) => family === 'IPv4')
  const usable = [...(v4.length > 0 ? v4 : found)].sort((a, b) => +inner.test(a.name) - +inner.test(b.name))
  return { local: url('localhost', port), lan: usable.map((info) => url(info.address, port)) }
}

function url(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
