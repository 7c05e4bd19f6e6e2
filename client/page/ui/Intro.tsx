/** Two sentences for somebody who is here for the first time. */
import type { JSX } from 'preact'
import { Term } from './Term.tsx'

export function Intro(): JSX.Element {
  return (
    <section class="intro" aria-label="What this is">
      <h1>Tabs, phones and laptops that compute together</h1>
      <p>
        Each peer here has a vector; an <Term of="allreduce">allreduce</Term> gives all of them the sum of all
        vectors, sent directly from browser to browser and never through a server. Papilio measures the links
        between the peers, chooses the <Term of="schedule">schedule</Term> that should be fastest for any
        number of them, and shows every message.
      </p>
      <p>
        <a href="/learn" data-testid="to-learn">
          Or let the peers learn together
        </a>
        : they train one model of handwritten digits, and no image leaves its tab.
      </p>
    </section>
  )
}
