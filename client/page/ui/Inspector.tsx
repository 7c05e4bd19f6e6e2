/** The numbers behind the picture, one tab at a time. */
import type { ComponentType, JSX } from 'preact'
import { type InspectorTab, inspectorTabs } from '../session/settings.ts'
import { useStore } from '../store.ts'
import { lazy } from './lazy.tsx'

export const tabLabels: Readonly<Record<InspectorTab, string>> = {
  r: 'r',
  sizes: 'Sizes',
  algorithms: 'Algorithms',
  links: 'Links',
  log: 'Log',
}

const panels: Readonly<Record<InspectorTab, ComponentType>> = {
  r: lazy(async () => (await import('./RPanel.tsx')).RPanel),
  sizes: lazy(async () => (await import('./SizesPanel.tsx')).SizesPanel),
  algorithms: lazy(async () => (await import('./AlgorithmTable.tsx')).AlgorithmTable),
  links: lazy(async () => (await import('./LinksPanel.tsx')).LinksPanel),
  log: lazy(async () => (await import('./EventLogView.tsx')).EventLogView),
}

export function Inspector(): JSX.Element {
  const { settings, change } = useStore()
  const { tab } = settings.value
  const Panel = panels[tab]
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (step === undefined) return
    const next = (inspectorTabs.indexOf(tab) + step + inspectorTabs.length) % inspectorTabs.length
    change({ tab: inspectorTabs[next]! })
    document.getElementById(`tab-${inspectorTabs[next]}`)?.focus()
  }
  return (
    <section class="inspector" aria-label="Numbers">
      <div class="tabs" role="tablist" aria-label="Numbers" onKeyDown={onKeyDown}>
        {inspectorTabs.map((each) => (
          <button
            key={each}
            type="button"
            role="tab"
            id={`tab-${each}`}
            aria-selected={each === tab}
            aria-controls="panel"
            tabIndex={each === tab ? 0 : -1}
            data-testid={`tab-${each}`}
            onClick={() => change({ tab: each })}
          >
            {tabLabels[each]}
          </button>
        ))}
      </div>
      <div id="panel" class="panel" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        <Panel />
      </div>
    </section>
  )
}
