/** Copies a text. Pages on plain http have no clipboard interface: there the old command does it, or the text is selected. */
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { announce } from '../announce.ts'
import { Icon } from './Icon.tsx'

async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const field = document.createElement('textarea')
    field.value = text
    field.className = 'heard'
    document.body.append(field)
    field.select()
    const done = document.execCommand('copy')
    field.remove()
    return done
  }
}

export function CopyButton({ text, label }: { text: string; label: string }): JSX.Element {
  const [done, setDone] = useState<boolean>()
  useEffect(() => {
    if (done === undefined) return
    const timer = setTimeout(() => setDone(undefined), 2000)
    return () => clearTimeout(timer)
  }, [done])
  const onClick = () =>
    void copyText(text).then((ok) => {
      setDone(ok)
      announce(ok ? 'Copied' : 'Copying is not allowed here: select the text and copy it')
    })
  return (
    <button type="button" class="tool" aria-label={label} title={label} onClick={onClick}>
      <Icon name={done === undefined ? 'copy' : done ? 'ok' : 'bad'} />
    </button>
  )
}
