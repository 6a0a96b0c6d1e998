// Measures the reference for B1 to B8 and prints a line of JSON for each part: row, part, value in the unit of our
// row, and a note where the size differs from ours. It lies beside the installed packages when it runs, and stands in
// for what surrounds them: a list of agents, and a tool runtime that only keeps what is registered with it.

import { Context, symbols } from '@deepseek-ai/cordis'
import { LocalJobRegistry } from '@deepseek-ai/dsh-jobs-local'
import { apply } from '@deepseek-ai/dsh-tool-jobs'
import { TextRetainer } from '@deepseek-ai/dsh-output-retention'
import assert from 'node:assert'

const RUNS = 7
const OUTPUT = 'three errors in two files'
// The processor's time, as for ours; all threads of the process, so the collector counts.
const now = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) * 1000
}

function report(row, part, value, note) {
  console.log(JSON.stringify({ row, part, value, note: note ?? '' }))
}

async function median(sample) {
  const samples = []
  for (let run = 0; run < RUNS; run++) samples.push(await sample())
  return samples.sort((a, b) => a - b)[RUNS >> 1]
}

function stage() {
  const ctx = new Context()
  const agents = new Map()
  ctx.provide('agents')
  ctx.set('agents', agents)
  const service = new LocalJobRegistry(ctx, { maxConcurrentJobsPerOwner: 10 })
  // The bare object, which is its best case: a container wraps each access.
  const registry = service[symbols.original] ?? service
  registry.attachController('bench')
  const actor = (id) => {
    const owner = { id, ctx: { effect: () => () => {} } }
    agents.set(id, owner)
    return owner
  }
  return { ctx, registry, actor }
}

const quick = (owner) => ({
  kind: 'bash',
  label: 'look for errors',
  owner,
  run: () => ({ cancel() {}, done: Promise.resolve({ status: 'completed', output: OUTPUT }) }),
})

// Promises of the same turn have settled the job when this comes back.
async function settled() {
  for (let turn = 0; turn < 4; turn++) await null
}

async function runOne(registry, owner) {
  const id = registry.start(quick(owner))
  await settled()
  return id
}

function readToTheEnd(registry, owner, id) {
  const { text, snapshot } = registry.read(id, owner)
  assert(snapshot.status === 'completed' && text === OUTPUT)
}

async function fill(registry, owners, each) {
  for (let job = 0; job < each; job++) {
    for (const owner of owners) readToTheEnd(registry, owner, await runOne(registry, owner))
  }
}

// B1, with a registry that holds at most a hundred jobs: it keeps all of them and looks at each at a start.
report('B1', '', await median(async () => {
  let spent = 0
  const [rounds, cycles] = [100, 100]
  for (let round = 0; round < rounds; round++) {
    const { registry, actor } = stage()
    const owner = actor('session')
    const start = now()
    for (let cycle = 0; cycle < cycles; cycle++) {
      readToTheEnd(registry, owner, await runOne(registry, owner))
    }
    spent += now() - start
  }
  return spent / (rounds * cycles)
}))

// B7, then B2 and B3 in the same registry of 10,000 jobs: filling one takes quadratic time.
const KEPT = 10_000
const many = stage()
const others = Array.from({ length: 1000 }, (_, number) => many.actor(`other ${number}`))
gc()
const before = process.memoryUsage().heapUsed
await fill(many.registry, others, KEPT / others.length)
gc()
const strings = 'look for errors'.length + OUTPUT.length
report('B7', 'finished, without its strings', (process.memoryUsage().heapUsed - before) / KEPT - strings, '10k')

report('B2', '1M kept', await median(async () => {
  const start = now()
  for (const owner of others.slice(0, 100)) await runOne(many.registry, owner)
  return (now() - start) / 100
}), '10k kept')

const own = many.actor('own')
await fill(many.registry, [own], 10)
const list = await median(() => {
  const start = now()
  for (let call = 0; call < 10; call++) assert(many.registry.list(own).length === 10)
  return (now() - start) / 10
})
report('B3', '100k of others', list, '10k of others')

// B4 and B5: what job_output does in the tool runtime, step by step: body, rendering, and the cut.
const tools = new Map()
function mount({ registry }) {
  apply({
    on() {},
    jobs: registry,
    systemPrompt: { section() {} },
    tools: { register: (tool) => tools.set(tool.name, tool) },
  }, {})
  return tools.get('job_output')
}

const LINES = '   Compiling a-crate-of-some-length v1.2.3 (and where it lies)\n'.repeat(1100).slice(0, 64 * 1024)

async function calls(scene, owner) {
  const tool = mount(scene)
  let fresh = ''
  const id = scene.registry.start({
    kind: 'bash',
    label: 'cargo build',
    owner,
    outputLimitBytes: 16 * 1024,
    run: () => ({
      cancel() {},
      done: new Promise(() => {}),
      readOutput() {
        const text = fresh
        fresh = ''
        return text
      },
    }),
  })
  return median(async () => {
    const start = now()
    for (let call = 0; call < 100; call++) {
      fresh += Buffer.from(LINES).toString('utf8')
      const exec = { name: 'job_output', args: { job_id: id }, arguments: { job_id: id }, agent: owner }
      const value = await tool.execute(exec.args, exec)
      const content = tool.output.render(exec.args, value)
      const fitted = tool.finalizeContent(exec, { value, content, isError: false }) ?? content
      assert(value.text.length === LINES.length && fitted[0].text.length <= 16 * 1024)
    }
    return (now() - start) / 100
  })
}

const alone = stage()
report('B4', '', await calls(alone, alone.actor('own')))
report('B4', '100k foreign jobs', await calls(many, own), '10k foreign jobs')

for (const [part, character, bytes] of [['', 'x', 1], ['3-byte text', '\u20ac', 3]]) {
  const scene = stage()
  const owner = scene.actor('own')
  const tool = mount(scene)
  const id = scene.registry.start({ ...quick(owner), outputLimitBytes: 16 * 1024 })
  await settled()
  const text = character.repeat((16 * 1024 * 1024) / bytes)
  const job = scene.registry.get(id, owner)
  const exec = { name: 'job_output', args: { job_id: id }, arguments: { job_id: id }, agent: owner }
  const value = { text, job }
  const content = tool.output.render(exec.args, value)
  report('B5', part, await median(() => {
    const start = now()
    const fitted = tool.finalizeContent(exec, { value, content, isError: false })
    assert(Buffer.byteLength(fitted[0].text) <= 16 * 1024)
    return now() - start
  }))
}

// B6
const WAITERS = 10_000
const waits = { arm: [], serve: [] }
for (let run = 0; run < RUNS; run++) {
  const { registry, actor } = stage()
  const owner = actor('session')
  let finish
  const done = new Promise((resolve) => { finish = resolve })
  const id = registry.start({ ...quick(owner), run: () => ({ cancel() {}, done }) })
  let start = now()
  const waiting = Array.from({ length: WAITERS }, () => registry.wait(id, 60_000, owner))
  waits.arm.push(now() - start)
  start = now()
  finish({ status: 'completed', output: OUTPUT })
  const snapshots = await Promise.all(waiting)
  waits.serve.push(now() - start)
  assert(snapshots.length === WAITERS && snapshots.every((job) => job.status === 'completed'))
}
const middle = (samples) => samples.sort((a, b) => a - b)[RUNS >> 1]
report('B6', 'settle, last served', middle(waits.serve))
report('B6', 'arm', middle(waits.arm))

// B8, with what the reference keeps of an output: the end of it.
for (const [part, size, pushes, window] of [['1 byte', 1, 200_000, 50 * 1024], ['64 KiB', 64 * 1024, 200, 1024 * 1024]]) {
  const piece = Buffer.alloc(size, 'x')
  report('B8', part, await median(() => {
    const retainer = new TextRetainer({ kind: 'tail', maxBytes: window })
    const start = now()
    for (let push = 0; push < pushes; push++) retainer.push(piece)
    const spent = now() - start
    assert(Buffer.byteLength(retainer.finish().text) > 0)
    return spent / pushes
  }), `${window / 1024} KiB window`)
}
process.exit(0)
