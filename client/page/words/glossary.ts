/** Words of the trade, in at most 30 words each. */
export const glossary = {
  allreduce: 'Every peer starts with a vector and ends with the sum (or mean, min, max) of all of them.',
  rank: 'The number of a peer in the group, 0 to P - 1, in the order in which they joined.',
  P: 'The number of peers in the group.',
  epoch: 'The number that grows each time somebody joins or leaves. All peers agree on it.',
  step: 'One round of messages: each peer sends to some peers and receives from some.',
  chunk: 'A part of the vector. With P peers it is usually cut into P chunks.',
  schedule: 'Who sends which chunks to whom in which step, and what is added where.',
  butterfly:
    'Halve the number of partial sums in each step, for any P. Then hand the results back the same way. The paper that Papilio implements.',
  r: 'Steps removed from the butterfly. Each saves a round trip and costs bytes: good for small vectors.',
  ring: 'Each peer only talks to its neighbours: fewest bytes at a time, most steps, 2 (P - 1).',
  alpha: 'The time of a message without content: the price of each step.',
  beta: 'The time that each further byte takes: one over the bandwidth.',
  gamma: 'The time to add one byte into another vector. Small against beta in browsers.',
  wrong: 'Elements that differ from the exact result by more than rounding can explain. Must be 0.',
  identical:
    'All ranks hold the same bits. Sums of floats depend on the order of adding; some schedules add in another order on each rank.',
  ulp: 'Unit in the last place: the distance of a float to its neighbour.',
  rtt: 'Round-trip time: there and back for a small message.',
  path: 'Direct: host to host. Reflexive: through a router. Relayed: through a TURN server, slower.',
  'in-page':
    'A further peer inside this page. It shares the processor thread of the page, so its timings differ from real tabs.',
  predicted: 'Computed from the measured links before the run.',
  measured: 'Mean over the ranks, from the call to the result; median of the repeats.',
  seed: 'The number that all vectors of a run are made from, so that every rank can check the result.',
} as const satisfies Readonly<Record<string, string>>

export type GlossaryKey = keyof typeof glossary
