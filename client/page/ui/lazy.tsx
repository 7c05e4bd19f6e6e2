/**
 * Parts of the page that come after the first paint. All are fetched as soon as the page is in a room: later the server may be
 * gone, and the page works on without it.
 */
import type { ComponentType, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'

const loaders: (() => Promise<unknown>)[] = []

export function preloadAll(): void {
  // What fails here is tried again when it is shown.
  for (const load of loaders) load().catch(() => undefined)
}

export function lazy<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined
  const loadOnce = async () => {
    loaded ??= await load()
  }
  loaders.push(loadOnce)
  return function Lazy(props: Props): JSX.Element | null {
    const [state, setState] = useState<'waiting' | 'failed' | 'here'>(loaded ? 'here' : 'waiting')
    useEffect(() => {
      let isWanted = true
      const settle = (next: 'failed' | 'here') => {
        if (isWanted) setState(next)
      }
      loadOnce().then(
        () => settle('here'),
        () => settle('failed'),
      )
      return () => {
        isWanted = false
      }
    }, [])
    const Component = loaded
    if (Component) return <Component {...props} />
    return state === 'failed' ? (
      <p class="note">This part of the page could not be loaded: the server does not answer.</p>
    ) : null
  }
}
