/** The parts of a Markdown file that tests look at: fenced blocks and links. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '../..')

export interface Block {
  readonly file: string
  /** Line of the opening fence, from 1. */
  readonly line: number
  readonly language: string
  /** What follows the language, as in ```ts run. */
  readonly marks: readonly string[]
  readonly code: string
  /** Declarations that the text implies, from a comment `<!-- given: ... -->` on the line before the block. */
  readonly given: string
}

/** Every guide of the repository, as paths from its root. */
export function guides(): string[] {
  const below = (folder: string) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file))
  return [...readdirSync(root), ...below('docs'), ...below('test')]
    .filter((file) => file.endsWith('.md'))
    .sort()
}

export function readGuide(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}

export function blocksOf(file: string, text: string = readGuide(file)): Block[] {
  const blocks: Block[] = []
  let given = ''
  let open: { line: number; info: string; fence: string; given: string; code: string[] } | undefined
  text.split('\n').forEach((content, index) => {
    const fence = /^\s*(`{3,})\s*(.*)$/.exec(content)
    if (open && fence && fence[1]!.length >= open.fence.length && fence[2] === '') {
      const [language = '', ...marks] = open.info.split(/\s+/)
      blocks.push({
        file,
        line: open.line,
        language,
        marks,
        code: `${open.code.join('\n')}\n`,
        given: open.given,
      })
      open = undefined
    } else if (open) open.code.push(content)
    else if (fence) open = { line: index + 1, info: fence[2]!.trim(), fence: fence[1]!, given, code: [] }
    given = /^<!-- given: (.*) -->$/.exec(content)?.[1] ?? ''
  })
  if (open) throw new Error(`${file}:${open.line}: the block that starts here never ends`)
  return blocks
}

/** Targets of links and pictures, code left out. */
export function linksOf(text: string): string[] {
  const prose = text.replace(/^\s*```[\s\S]*?^\s*```/gm, '').replace(/`[^`\n]*`/g, '')
  const inline = [...prose.matchAll(/\]\(([^)\s]+)(?:\s+"[^"]*")?\)/g)].map((match) => match[1]!)
  const html = [...prose.matchAll(/(?:src|srcset|href)="([^"]+)"/g)].map((match) => match[1]!)
  return [...inline, ...html]
}

/** The anchors of a guide's headings, made as GitHub makes them. */
export function anchorsOf(text: string): Set<string> {
  const headings = [...text.matchAll(/^#{1,6}\s+(.*)$/gm)].map((match) => match[1]!)
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/`/g, '')
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replace(/\s/g, '-'),
    ),
  )
}
