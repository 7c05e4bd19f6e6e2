/** Parts of the page that come when they are first shown, so that the first paint does not wait for them. */
import type { ComponentType, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'

export function lazy<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined
  return function Lazy(props: Props): JSX.Element | null {
    const [, setLoaded] = useState(loaded !== undefined)
    useEffect(() => {
      let isWanted = true
      if (!loaded)
        void load().then((component) => {
          loaded = component
          if (isWanted) setLoaded(true)
        })
      return () => {
        isWanted = false
      }
    }, [])
    const Component = loaded
    return Component ? <Component {...props} /> : null
  }
}
