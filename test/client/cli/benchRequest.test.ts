import { describe, expect, it } from 'vitest'
import { benchHelp, readBenchRequest } from '../../../client/cli/benchRequest.ts'

const planOf = (...argv: string[]) => readBenchRequest(argv)!.plan

describe('the flags of papilio bench', () => {
  it('have the letters and meanings of nccl-tests', () => {
    const line = '-b 1K -e 4M -f 2 -n 30 -w 3 -m 2 -c 0 -o prod -d double -r 1 -a 1 -N 2 -T 9'
    expect(planOf('--collective', 'reduce', ...line.split(' '))).toMatchObject({
      collective: 'reduce',
      minBytes: 1024,
      maxBytes: 4 * 1024 ** 2,
      step: { factor: 2 },
      iterations: 30,
      warmup: 3,
      aggregate: 2,
      check: 0,
      ops: ['prod'],
      dtypes: ['f64'],
      root: 1,
      average: 'avg',
      cycles: 2,
      timeoutSeconds: 9,
    })
    expect(planOf('--stepbytes', '1M').step).toEqual({ bytes: 1024 ** 2 })
    expect(planOf('-d', 'all').dtypes).toHaveLength(13)
    expect(planOf('-o', 'sum,avg').ops).toEqual(['sum', 'mean'])
    expect(planOf('-b', '16M').maxBytes).toBe(16 * 1024 ** 2)
  })

  it('ask for algorithms, r and baselines', () => {
    expect(planOf().algorithms).toEqual(['auto'])
    expect(planOf('--steps-removed', 'all')).toMatchObject({ algorithms: ['butterfly'], stepsRemoved: 'all' })
    expect(planOf('--r', '2')).toMatchObject({ stepsRemoved: 2 })
    expect(planOf('--algo', 'ring,butterfly:r=1,group=xor,auto').algorithms).toEqual([
      'ring',
      'butterfly:r=1,group=xor',
      'auto',
    ])
    expect(planOf('--baseline', 'raw,star').baselines).toEqual(['raw', 'star'])
  })

  it('say where the peers are', () => {
    expect(readBenchRequest(['-p', '7'])).toMatchObject({ peers: 7, size: 7, processes: 7, place: undefined })
    expect(readBenchRequest(['-p', '40'])).toMatchObject({ peers: 40, processes: 8 })
    const there = readBenchRequest([
      '-p',
      '2',
      '--size',
      '6',
      '--room',
      'K7F-2Q9',
      '--url',
      'http://10.0.0.5:3000',
    ])
    expect(there).toMatchObject({ peers: 2, size: 6, place: { room: 'k7f-2q9' } })
  })

  it.each([
    [['-b', '1X'], '--minbytes is a size such as'],
    [['-b', '8', '-e', '4'], 'more than the largest'],
    [['-f', '2', '-i', '8'], 'not both'],
    [['-n', '0'], '--iters is a whole number from 1'],
    [['-o', 'add'], '--op is one of'],
    [['-d', 'string'], '--datatype is'],
    [['--collective', 'allreduced'], 'collective'],
    [['--baseline', 'ring'], '--baseline is a list of raw, star, send-to-all'],
    [['--format', 'xml'], '--format is one of'],
    [['--size', '9'], '--size needs --room'],
    [['--room', 'a', '-p', '3', '--size', '2'], 'fewer than the 3 peers'],
    [['--url', 'http://a'], '--url needs --room'],
    [['--room', 'x_y'], '--room is letters'],
    [['--nonsense'], 'There is no flag --nonsense'],
  ])('refuse %j in words', (argv, words) => {
    expect(() => readBenchRequest(argv)).toThrow(words)
  })

  it('are all in the help', () => {
    expect(readBenchRequest(['--help'])).toBeUndefined()
    for (const flag of ['-p, --peers', '-J, --output_file', '--steps-removed', '--trace'])
      expect(benchHelp()).toContain(flag)
  })
})
