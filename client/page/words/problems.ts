/**
 * What can go wrong, in words: one sentence of fact, then what to do. The codes are those of the errors (shared/base/errors.ts), and
 * those of the page itself.
 */
export interface Problem {
  /** Heading: the fact, without names. */
  readonly title: string
  /** What to do, in the order in which to try it. */
  readonly remedies: readonly string[]
}

const sameNetwork = [
  'Check that all computers are in the same network. Guest and school networks often keep devices apart: try a phone hotspot or a cable.',
  'Switch off VPN and private relay for this page.',
  'If the system or the browser asks for access to the local network, choose Allow.',
  'Ask the operator of this server to add a TURN server.',
]
const again = ['Run again.']
const reopen = ['Close this tab and open the link in a new one. Reloading is not enough.']

const problems: Readonly<Record<string, Problem>> = {
  ABORTED: { title: 'The run was stopped', remedies: again },
  CHANNEL_CLOSED: {
    title: 'A link between two peers closed',
    remedies: ['Wait until the roster is ready, then run again with the peers that are here.'],
  },
  GROUP_NOT_FORMED: { title: 'The peers could not all reach each other', remedies: sameNetwork },
  ICE_FAILED: { title: 'Two peers could not connect', remedies: sameNetwork },
  INSECURE_CONTEXT: {
    title: 'This address is not secure, so the browser keeps some functions back',
    remedies: ['Use https, or select and copy by hand.'],
  },
  INVALID_ARGUMENT: {
    title: 'These settings do not go together',
    remedies: ['Change the setting that the message names, then run again.'],
  },
  LEFT: { title: 'This page has left the room', remedies: ['Reload the page to come back.'] },
  MEMBERS_CHANGED: { title: 'The group changed during the run', remedies: again },
  MISMATCH: {
    title: 'The peers made different calls',
    remedies: ['Reload the pages that are older than the others, then run again.'],
  },
  NOT_FOUND: { title: 'There is no such page', remedies: [] },
  NO_WEBRTC: {
    title: 'This browser has no WebRTC data channels',
    remedies: [
      'Open the link in a current Chrome, Edge, Firefox or Safari.',
      'Inside another app: open the page in the system browser.',
    ],
  },
  PC_LIMIT: { title: 'This tab has used up its peer connections', remedies: reopen },
  PEER_LOST: {
    title: 'A peer left during the run',
    remedies: ['Run again: the group goes on with the peers that are here.'],
  },
  POPUP_BLOCKED: { title: 'The browser blocked new tabs', remedies: [] },
  PROTOCOL: {
    title: 'A peer sent something that breaks the rules',
    remedies: ['Reload all pages so that they have the same version, then run again.'],
  },
  RATE_LIMITED: {
    title: 'Too many joins from this network',
    remedies: ['Wait a minute, then reload.'],
  },
  REMOVED: { title: 'The others lost this page for a while', remedies: [] },
  ROOM_CLOSED: { title: 'The room is closed', remedies: [] },
  ROOM_FULL: {
    title: 'The room is full',
    remedies: ['Ask somebody to leave, or the operator to raise the limit.'],
  },
  ROOM_LOCKED: { title: 'The room is locked', remedies: ['Ask the one who made the room to unlock it.'] },
  ROOM_UNKNOWN: { title: 'There is no such room', remedies: [] },
  RUN_REFUSED: { title: 'The run was not accepted', remedies: ['Wait until the runs before it have ended.'] },
  SIGNAL_UNREACHABLE: {
    title: 'The server does not answer',
    remedies: [
      'Check that the server runs and that this computer is online.',
      'Behind a proxy: it must forward WebSocket upgrades.',
      'Reload the page.',
    ],
  },
  STOPPED: { title: 'The run was stopped', remedies: [] },
  TIMEOUT: {
    title: 'Nothing came for too long',
    remedies: [
      'Look at the peer that is named: a sleeping computer or a hidden tab stops answering.',
      'Remove it, or wait for it, then run again.',
    ],
  },
  TOO_LARGE: { title: 'The vector is too large', remedies: ['Choose a smaller size.'] },
  UNSUPPORTED: {
    title: 'This browser lacks something that the page needs',
    remedies: ['Use a current browser.'],
  },
  VERIFY_FAILED: {
    title: 'The result is wrong',
    remedies: ['Do not use it. Export the run and send it to the developers: this must never happen.'],
  },
  VERSION_MISMATCH: {
    title: 'This page and the server have different versions',
    remedies: ['Reload the page. If it stays: clear the data of this site, then open it again.'],
  },
}

const unknown: Problem = {
  title: 'An error that this page does not know',
  remedies: ['Export the event log and send it to the developers.', 'Reload the page.'],
}

export function problemOf(code: string): Problem {
  return problems[code] ?? unknown
}

export const problemCodes: readonly string[] = Object.keys(problems)
