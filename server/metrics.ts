/** What an operator can watch. No label carries a name, a room code or an address. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { protocolVersion } from '../shared/signaling/limits.ts'
import type { Rooms } from './rooms.ts'

export type Metrics = ReturnType<typeof createMetrics>

export function createMetrics(rooms: () => Rooms, connections: () => number, version: string) {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  new Gauge({
    name: 'papilio_build_info',
    help: 'Always 1; the version is in the labels',
    labelNames: ['version', 'protocol'],
    registers,
  }).set({ version, protocol: String(protocolVersion) }, 1)
  new Gauge({
    name: 'papilio_rooms',
    help: 'Open rooms',
    registers,
    collect() {
      this.set(rooms().count)
    },
  })
  new Gauge({
    name: 'papilio_peers',
    help: 'Members of all rooms',
    registers,
    collect() {
      this.set(rooms().members)
    },
  })
  new Gauge({
    name: 'papilio_connections',
    help: 'Open signalling connections',
    registers,
    collect() {
      this.set(connections())
    },
  })
  return {
    registry,
    joins: new Counter({
      name: 'papilio_joins_total',
      help: 'Joins by what came of them',
      labelNames: ['result'],
      registers,
    }),
    departures: new Counter({
      name: 'papilio_departures_total',
      help: 'Seats that left a room, by cause',
      labelNames: ['cause'],
      registers,
    }),
    reconnects: new Counter({
      name: 'papilio_reconnects_total',
      help: 'Peers that came back with a new connection to the server',
      registers,
    }),
    refusals: new Counter({
      name: 'papilio_refused_total',
      help: 'Requests refused, by code',
      labelNames: ['code'],
      registers,
    }),
    links: new Counter({
      name: 'papilio_ice_result_total',
      help: 'Links between peers by how they were made (told by the peers)',
      labelNames: ['path'],
      registers,
    }),
    signals: new Counter({
      name: 'papilio_signal_messages_total',
      help: 'Signals relayed, by type',
      labelNames: ['type'],
      registers,
    }),
    signalBytes: new Counter({
      name: 'papilio_signal_bytes_total',
      help: 'Bytes of the signals relayed',
      registers,
    }),
    stun: new Counter({
      name: 'papilio_stun_requests_total',
      help: 'STUN datagrams by what came of them',
      labelNames: ['result'],
      registers,
    }),
    runs: new Histogram({
      name: 'papilio_run_duration_seconds',
      help: 'Time of a collective on one rank (told by peers that agreed to)',
      buckets: [0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100],
      registers,
    }),
  }
}
