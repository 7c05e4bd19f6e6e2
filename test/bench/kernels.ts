/** `npm run bench -- kernels`: what SIMD gains over plain loops, with all copies counted, in Node and in Chromium. */
import { join } from 'node:path'
import { launchChromium } from '../support/launch.ts'
import { bundleScript } from '../support/library.ts'
import { type KernelTimes, kernelTimes, type Rate } from './kernelTimes.ts'

declare const kernelBench: { kernelTimes: typeof kernelTimes }

/** Of a small message, and of a full segment. */
const sizes = [4096, 65472]

const rateText = ([median, least, most]: Rate) =>
  `${median.toFixed(2)} [${least.toFixed(2)}..${most.toFixed(2)}]`

function print(where: string, bytes: number, times: readonly KernelTimes[]): void {
  console.log(`\n# ${where}, ${bytes} bytes, GB/s of one operand: median [least..most] of 5 runs in turns`)
  console.log('| kernel | loop | SIMD | times |')
  console.log('| --- | --- | --- | --- |')
  for (const { what, loop, simd } of times)
    console.log(
      `| ${what} | ${rateText(loop)} | ${simd ? rateText(simd) : '-'} | ${simd ? (simd[0] / loop[0]).toFixed(1) : '-'} |`,
    )
}

export async function kernels(): Promise<void> {
  for (const bytes of sizes) print(`Node ${process.version}`, bytes, kernelTimes(bytes))
  const { browser, context, close } = await launchChromium()
  try {
    const script = await bundleScript(join(import.meta.dirname, 'kernelTimes.ts'), 'kernelBench')
    const page = await context.newPage()
    await page.addScriptTag({ content: script })
    for (const bytes of sizes)
      print(
        `Chromium ${browser.version()}`,
        bytes,
        await page.evaluate((size) => kernelBench.kernelTimes(size), bytes),
      )
  } finally {
    await close()
  }
}
