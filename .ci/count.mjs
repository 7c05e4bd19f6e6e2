/** Prints `tests: N passed, N failed` from the runner's JSON report; fails when something failed or nothing ran. */
import { readFileSync } from 'node:fs'

let report = { numPassedTests: 0, numFailedTests: 0, testResults: [] }
try {
  report = JSON.parse(readFileSync(process.argv[2], 'utf8'))
} catch (error) {
  console.log(`The test runner left no report: ${error.message}`)
}
// A file that could not be loaded has failed without having counted a test.
const brokenFiles = report.testResults.filter(
  ({ status, assertionResults }) =>
    status === 'failed' && !assertionResults.some((result) => result.status === 'failed'),
)
for (const { name, message } of brokenFiles) console.log(`${name}: ${message}`)
const failed = report.numFailedTests + brokenFiles.length
console.log(`tests: ${report.numPassedTests} passed, ${failed} failed`)
process.exit(failed > 0 || report.numPassedTests === 0 || report.success === false ? 1 : 0)
