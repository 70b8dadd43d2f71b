// Draws the charts from the tables beside them, so that both always tell the same. Numbers and
// dates are those of the tables: the server has written them as the reader's locale does.

// The policy that counts is that of the document, however much of it is swapped later.
const nonce = document.getElementById('dashboard')?.dataset.styleNonce

const darkness = matchMedia('(prefers-color-scheme: dark)')
const stillness = matchMedia('(prefers-reduced-motion: reduce)')
const BETWEEN_TICKS_PX = 16
const TICK_SIZE = '0.8125rem'

let charts = []
let measure = 'orders'
let drawnWidth = 0

const tableOf = (chart) => chart.closest('section').querySelector('table')

const color = (element, name) => getComputedStyle(element).getPropertyValue(name).trim()

/** How wide the widest of some texts is in a chart's letters, px. */
function widestOf(texts, chart) {
  const pen = document.createElement('canvas').getContext('2d')
  const { fontFamily } = getComputedStyle(chart)
  const root = parseFloat(getComputedStyle(document.documentElement).fontSize)
  pen.font = `${parseFloat(TICK_SIZE) * root}px ${fontFamily}`
  return Math.max(...texts.map((text) => pen.measureText(text).width))
}

const common = (element, type) => ({
  type,
  height: element.clientHeight,
  nonce,
  background: 'transparent',
  fontFamily: 'inherit',
  foreColor: color(element, '--muted'),
  toolbar: { show: false },
  zoom: { enabled: false },
  redrawOnWindowResize: false,
  redrawOnParentResize: false,
  animations: { enabled: !stillness.matches, speed: 350, animateGradually: { enabled: false } },
})

/** Round steps of an axis, and where it ends. */
function axisOf(values, isWhole) {
  const most = Math.max(...values)
  if (most === 0) return { max: 1, tickAmount: 1 }
  const rough = most / 4
  const power = 10 ** Math.floor(Math.log10(rough))
  const round = [1, 2, 2.5, 3, 4, 5, 10].map((factor) => factor * power)
  const step = round.find((one) => one >= rough && (!isWhole || Number.isInteger(one))) ?? 1
  const tickAmount = Math.ceil(most / step)
  return { max: tickAmount * step, tickAmount }
}

function timelineOptions(chart) {
  const table = tableOf(chart)
  const heads = [...table.tHead.rows[0].cells]
  const column = Math.max(
    1,
    heads.findIndex((head) => head.dataset.measure === measure),
  )
  const rows = [...table.tBodies[0].rows]
  const cells = rows.map((row) => row.cells[column].querySelector('data'))
  const values = cells.map(({ value }) => Number(value))
  const name = heads[column].textContent
  const unit = name.split(', ')[1] ?? ''
  const axis = axisOf(values, measure === 'orders')
  const short = new Intl.NumberFormat(chart.dataset.locale, {
    notation: 'compact',
    maximumFractionDigits: 1,
  })
  // The last one has its tick, as that is where the eye goes first.
  const ticks = rows.map((row) => row.dataset.tick ?? '')
  const room = widestOf(ticks, chart) + BETWEEN_TICKS_PX
  const every = Math.ceil((rows.length * room) / Math.max(chart.clientWidth - 60, 1))
  const hasTick = (index) => (rows.length - 1 - index) % every === 0
  const accent = color(chart, '--accent')
  return {
    chart: common(chart, 'area'),
    series: [{ name, data: values }],
    colors: [accent],
    stroke: { width: 2.5, curve: 'straight', lineCap: 'round' },
    fill: { type: 'gradient', gradient: { shadeIntensity: 0, opacityFrom: 0.28, opacityTo: 0.03 } },
    forecastDataPoints: {
      count: rows.filter((row) => 'unfinished' in row.dataset).length,
      fillOpacity: 0.1,
      dashArray: 5,
    },
    dataLabels: { enabled: false },
    markers: { size: rows.length > 31 ? 0 : 3.5, strokeWidth: 0, hover: { size: 6 } },
    grid: {
      borderColor: color(chart, '--grid'),
      padding: { left: 16, right: 24, top: -12, bottom: 0 },
    },
    xaxis: {
      type: 'category',
      categories: rows.map((_, index) => index),
      tickPlacement: 'on',
      labels: {
        rotate: 0,
        hideOverlappingLabels: false,
        trim: false,
        style: { fontSize: TICK_SIZE },
        formatter: (index) => (hasTick(Number(index)) ? (ticks[index] ?? '') : ''),
      },
      axisBorder: { color: color(chart, '--line') },
      axisTicks: { show: false },
      tooltip: { enabled: false },
      crosshairs: { stroke: { color: color(chart, '--line') } },
    },
    yaxis: {
      min: 0,
      ...axis,
      labels: { style: { fontSize: TICK_SIZE }, formatter: (value) => short.format(value) },
    },
    tooltip: {
      theme: darkness.matches ? 'dark' : 'light',
      style: { fontSize: '0.875rem' },
      x: { formatter: (_, { dataPointIndex }) => rows[dataPointIndex].cells[0].textContent.trim() },
      y: {
        title: { formatter: () => '' },
        formatter: (_, { dataPointIndex }) => {
          const text = cells[dataPointIndex].textContent
          if (measure === 'orders') return `${text} ${text === '1' ? 'order' : 'orders'}`
          return measure === 'co2e' ? `${text} ${unit} CO₂e` : text
        },
      },
    },
  }
}

function statusOptions(chart) {
  const rows = [...tableOf(chart).tBodies[0].rows].filter(
    (row) => Number(row.querySelector('data').value) > 0,
  )
  const ink = color(chart, '--ink')
  return {
    chart: {
      ...common(chart, 'donut'),
      events: {
        dataPointSelection: (_event, _chart, { dataPointIndex }) =>
          rows[dataPointIndex].querySelector('a').click(),
      },
    },
    series: rows.map((row) => Number(row.querySelector('data').value)),
    labels: rows.map((row) => row.cells[0].textContent.trim()),
    colors: rows.map((row) => color(row, '--status-color')),
    stroke: { width: rows.length > 1 ? 2 : 0, colors: [color(chart, '--surface')] },
    legend: { show: false },
    dataLabels: { enabled: false },
    states: { hover: { filter: { type: 'none' } }, active: { filter: { type: 'none' } } },
    plotOptions: {
      pie: {
        expandOnClick: false,
        donut: {
          size: '72%',
          labels: {
            show: true,
            name: { show: true, offsetY: 18, fontSize: '0.875rem', fontWeight: 400 },
            value: {
              offsetY: -14,
              fontSize: '1.75rem',
              fontWeight: 700,
              color: ink,
              formatter: (value) =>
                rows.find((row) => row.querySelector('data').value === String(value))?.cells[1]
                  .textContent ?? value,
            },
            total: {
              show: true,
              label: chart.dataset.total === '1' ? 'order' : 'orders',
              color: color(chart, '--muted'),
              formatter: () => chart.dataset.total,
            },
          },
        },
      },
    },
    tooltip: { enabled: false },
  }
}

function erase() {
  for (const chart of charts) chart.destroy()
  charts = []
}

function describe(chart, name) {
  const table = tableOf(chart)
  const rows = [...table.tBodies[0].rows]
  const [first, last] = [rows[0], rows.at(-1)].map((row) => row.cells[0].textContent.trim())
  chart.setAttribute('role', 'img')
  chart.setAttribute('aria-label', `${name}: ${first} to ${last}. The table below has the numbers.`)
}

function draw() {
  erase()
  const timeline = document.getElementById('timeline-chart')
  const statuses = document.getElementById('statuses-chart')
  if (!timeline || !statuses) return
  for (const button of document.querySelectorAll('.measures button')) {
    const isShown = button.dataset.measure === measure
    button.setAttribute('aria-pressed', String(isShown))
    if (isShown) describe(timeline, button.textContent)
  }
  charts = [
    new window.ApexCharts(timeline, timelineOptions(timeline)),
    new window.ApexCharts(statuses, statusOptions(statuses)),
  ]
  for (const chart of charts) chart.render()
  drawnWidth = innerWidth
}

document.addEventListener('click', ({ target }) => {
  const button = target.closest?.('.measures button')
  if (!button) return
  measure = button.dataset.measure
  draw()
})

document.addEventListener('htmx:before:swap', erase)
document.addEventListener('htmx:after:swap', draw)
// What had the focus has been swapped away: the range it led to is the next best.
document.addEventListener('htmx:finally:request', () => {
  if (document.activeElement !== document.body) return
  document.querySelector('#ranges [aria-current]')?.focus({ preventScroll: true })
})
darkness.addEventListener('change', draw)

// On paper there is another width than the one that was drawn for: the drawing shrinks to it.
addEventListener('beforeprint', () => {
  for (const svg of document.querySelectorAll('.chart svg')) {
    svg.setAttribute('viewBox', `0 0 ${svg.getAttribute('width')} ${svg.getAttribute('height')}`)
  }
})

let resizing
addEventListener('resize', () => {
  clearTimeout(resizing)
  // On a phone the height changes with every scroll, and means nothing.
  resizing = setTimeout(() => innerWidth !== drawnWidth && draw(), 150)
})

draw()
