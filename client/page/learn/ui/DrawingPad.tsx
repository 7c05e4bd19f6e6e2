/** A sheet to draw a digit on, with mouse, pen or finger; and beside it what the models see of it. Keyboards take an example instead. */
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { type Ink, side } from '../drawing.ts'

const sheet = 280
const pen = 22
/** While somebody draws, the models are asked this often, ms. */
const askMs = 400

export interface DrawingPadProps {
  readonly disabled: boolean
  /** What was asked last: 28 x 28 pixels, 0 .. 1. */
  readonly sample: Float32Array | undefined
  readonly onInk: (ink: Ink) => void
}

export function DrawingPad({ disabled, sample, onInk }: DrawingPadProps): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null)
  const last = useRef<readonly [number, number] | undefined>(undefined)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])

  const pointOf = ({ clientX, clientY }: PointerEvent): readonly [number, number] => {
    const { left, top, width, height } = canvas.current!.getBoundingClientRect()
    return [((clientX - left) * sheet) / width, ((clientY - top) * sheet) / height]
  }
  const ask = () => {
    clearTimeout(timer.current)
    timer.current = undefined
    const context = canvas.current?.getContext('2d', { willReadFrequently: true })
    if (context) onInk(inkOf(context))
  }
  const draw = (to: readonly [number, number]) => {
    const context = canvas.current?.getContext('2d', { willReadFrequently: true })
    if (!context || !canvas.current) return
    const [x, y] = last.current ?? to
    context.strokeStyle = getComputedStyle(canvas.current).color
    context.lineWidth = pen
    context.lineCap = 'round'
    context.lineJoin = 'round'
    context.beginPath()
    context.moveTo(x, y)
    context.lineTo(...to)
    context.stroke()
    last.current = to
    timer.current ??= setTimeout(ask, askMs)
  }
  const onPointerDown = (event: PointerEvent) => {
    if (disabled || event.button !== 0) return
    ;(event.currentTarget as Element).setPointerCapture(event.pointerId)
    last.current = undefined
    draw(pointOf(event))
    event.preventDefault()
  }
  const onPointerMove = (event: PointerEvent) => {
    if (last.current) for (const each of coalesced(event)) draw(pointOf(each))
  }
  const onPointerUp = () => {
    if (!last.current) return
    last.current = undefined
    ask()
  }
  const clear = () => canvas.current?.getContext('2d')?.clearRect(0, 0, sheet, sheet)
  return (
    <div class="pad">
      <div class="pad-sheet" data-disabled={disabled}>
        <canvas
          ref={canvas}
          width={sheet}
          height={sheet}
          role="img"
          aria-label="Sheet to draw a digit on with a pointer; the buttons below take an example instead"
          data-testid="pad"
          onPointerDown={onPointerDown}
          onPointerMove={onPointerMove}
          onPointerUp={onPointerUp}
          onPointerCancel={onPointerUp}
        />
      </div>
      <div class="pad-side">
        <Seen sample={sample} />
        <button
          type="button"
          class="button small"
          data-testid="pad-clear"
          disabled={disabled}
          onClick={clear}
        >
          Clear
        </button>
      </div>
    </div>
  )
}

/** Fast strokes have more points than the page is told of one by one. */
function coalesced(event: PointerEvent): readonly PointerEvent[] {
  const events = event.getCoalescedEvents?.() ?? []
  return events.length > 0 ? events : [event]
}

function inkOf(context: CanvasRenderingContext2D): Ink {
  const { data } = context.getImageData(0, 0, sheet, sheet)
  return {
    width: sheet,
    height: sheet,
    pixels: Float32Array.from({ length: sheet * sheet }, (_, i) => data[4 * i + 3]! / 255),
  }
}

/** The picture as the models get it. */
function Seen({ sample }: { sample: Float32Array | undefined }): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    const context = canvas.current?.getContext('2d')
    if (!context) return
    const image = context.createImageData(side, side)
    for (let i = 0; i < side * side; i++) {
      const shade = 255 * (1 - (sample?.[i] ?? 0))
      image.data.set([shade, shade, shade, 255], 4 * i)
    }
    context.putImageData(image, 0, 0)
  }, [sample])
  return (
    <figure class="seen">
      <canvas
        ref={canvas}
        class="seen-canvas"
        width={side}
        height={side}
        role="img"
        aria-label="What the models see"
      />
      <figcaption class="note">what they see</figcaption>
    </figure>
  )
}
