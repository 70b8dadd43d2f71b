// Draws the charts from the data tables next to them. The server has already formatted numbers and
// dates for the user's locale.

import '../portal/menus.js'

// The CSP nonce of the document; it stays valid after htmx swaps.
const nonce = document.getElementById('dashboard')?.dataset.styleNonce

const darkScheme = matchMedia('(prefers-color-scheme: dark)')
const reducedMotion = matchMedia('(prefers-reduced-motion: reduce)')
const MIN_LABEL_GAP_PX = 16
const LABEL_FONT_SIZE = '0.8125rem'

let charts = []
let measure = 'orders'
let drawnWidth = 0

const getTable = (chart) => chart.closest('section').querySelector('table')

const getColor = (element, name) => getComputedStyle(element).getPropertyValue(name).trim()

/** Width in px of the widest label in the chart's font. */
function measureWidest(labels, chart) {
  const context = document.createElement('canvas').getContext('2d')
  const { fontFamily } = getComputedStyle(chart)
  const rootFontSize = parseFloat(getComputedStyle(document.documentElement).fontSize)
  context.font = `${parseFloat(LABEL_FONT_SIZE) * rootFontSize}px ${fontFamily}`
  return Math.max(...labels.map((label) => context.measureText(label).width))
}

const getCommonOptions = (element, type) => ({
  type,
  height: element.clientHeight,
  nonce,
  background: 'transparent',
  fontFamily: 'inherit',
  foreColor: getColor(element, '--muted'),
  toolbar: { show: false },
  zoom: { enabled: false },
  redrawOnWindowResize: false,
  redrawOnParentResize: false,
  animations: { enabled: !reducedMotion.matches, speed: 350, animateGradually: { enabled: false } },
})

/** Rounds the axis maximum and tick interval to readable numbers. */
function getAxis(values, isInteger) {
  const max = Math.max(...values)
  if (max === 0) return { max: 1, tickAmount: 1 }
  const minInterval = max / 4
  const power = 10 ** Math.floor(Math.log10(minInterval))
  const candidates = [1, 2, 2.5, 3, 4, 5, 10].map((factor) => factor * power)
  const interval =
    candidates.find(
      (candidate) => candidate >= minInterval && (!isInteger || Number.isInteger(candidate)),
    ) ?? 1
  const tickAmount = Math.ceil(max / interval)
  return { max: tickAmount * interval, tickAmount }
}

function getTimelineOptions(chart) {
  const table = getTable(chart)
  const headers = [...table.tHead.rows[0].cells]
  const column = Math.max(
    1,
    headers.findIndex((header) => header.dataset.measure === measure),
  )
  const rows = [...table.tBodies[0].rows]
  const cells = rows.map((row) => row.cells[column].querySelector('data'))
  const values = cells.map(({ value }) => Number(value))
  const name = headers[column].textContent
  const unit = name.split(', ')[1] ?? ''
  const axis = getAxis(values, measure === 'orders')
  const compactFormat = new Intl.NumberFormat(chart.dataset.locale, {
    notation: 'compact',
    maximumFractionDigits: 1,
  })
  // Skip labels that would overlap, counting from the last point so that it always has one.
  const labels = rows.map((row) => row.dataset.axisLabel ?? '')
  const labelWidth = measureWidest(labels, chart) + MIN_LABEL_GAP_PX
  const labelInterval = Math.ceil((rows.length * labelWidth) / Math.max(chart.clientWidth - 60, 1))
  const hasLabel = (index) => (rows.length - 1 - index) % labelInterval === 0
  const accent = getColor(chart, '--accent')
  return {
    chart: {
      ...getCommonOptions(chart, 'area'),
      events: {
        // Anywhere above or below a point, as for its tooltip.
        click: (_event, _chart, { dataPointIndex }) =>
          rows[dataPointIndex]?.querySelector('a')?.click(),
      },
    },
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
      borderColor: getColor(chart, '--line-soft'),
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
        style: { fontSize: LABEL_FONT_SIZE },
        formatter: (index) => (hasLabel(Number(index)) ? (labels[index] ?? '') : ''),
      },
      axisBorder: { color: getColor(chart, '--line') },
      axisTicks: { show: false },
      tooltip: { enabled: false },
      crosshairs: { stroke: { color: getColor(chart, '--line') } },
    },
    yaxis: {
      min: 0,
      ...axis,
      labels: {
        style: { fontSize: LABEL_FONT_SIZE },
        formatter: (value) => compactFormat.format(value),
      },
    },
    tooltip: {
      theme: darkScheme.matches ? 'dark' : 'light',
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

function getStatusOptions(chart) {
  const rows = [...getTable(chart).tBodies[0].rows].filter(
    (row) => Number(row.querySelector('data').value) > 0,
  )
  return {
    chart: {
      ...getCommonOptions(chart, 'donut'),
      events: {
        dataPointSelection: (_event, _chart, { dataPointIndex }) =>
          rows[dataPointIndex].querySelector('a').click(),
      },
    },
    series: rows.map((row) => Number(row.querySelector('data').value)),
    labels: rows.map((row) => row.cells[0].textContent.trim()),
    colors: rows.map((row) => getColor(row, '--status')),
    stroke: { width: rows.length > 1 ? 2 : 0, colors: [getColor(chart, '--surface')] },
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
              color: getColor(chart, '--ink'),
              formatter: (value) =>
                rows.find((row) => row.querySelector('data').value === String(value))?.cells[1]
                  .textContent ?? value,
            },
            total: {
              show: true,
              label: chart.dataset.total === '1' ? 'order' : 'orders',
              color: getColor(chart, '--muted'),
              formatter: () => chart.dataset.total,
            },
          },
        },
      },
    },
    tooltip: { enabled: false },
  }
}

function destroyCharts() {
  for (const chart of charts) chart.destroy()
  charts = []
}

function setAccessibleLabel(chart, name) {
  const table = getTable(chart)
  const rows = [...table.tBodies[0].rows]
  const [first, last] = [rows[0], rows.at(-1)].map((row) => row.cells[0].textContent.trim())
  chart.setAttribute('role', 'img')
  chart.setAttribute(
    'aria-label',
    `${name}: ${first} to ${last}. See the table below for the numbers.`,
  )
}

function drawCharts() {
  destroyCharts()
  const timeline = document.getElementById('timeline-chart')
  const statuses = document.getElementById('statuses-chart')
  if (!timeline || !statuses) return
  for (const button of document.querySelectorAll('.measures button')) {
    const isSelected = button.dataset.measure === measure
    button.setAttribute('aria-pressed', String(isSelected))
    if (isSelected) setAccessibleLabel(timeline, button.textContent)
  }
  charts = [
    new window.ApexCharts(timeline, getTimelineOptions(timeline)),
    new window.ApexCharts(statuses, getStatusOptions(statuses)),
  ]
  for (const chart of charts) chart.render()
  drawnWidth = innerWidth
}

document.addEventListener('click', ({ target }) => {
  const button = target.closest?.('.measures button')
  if (!button) return
  measure = button.dataset.measure
  drawCharts()
})

document.addEventListener('htmx:before:swap', destroyCharts)
document.addEventListener('htmx:after:swap', drawCharts)
// If the swap removed the focused element, move the focus to the selected range.
document.addEventListener('htmx:finally:request', () => {
  if (document.activeElement !== document.body) return
  document.querySelector('#ranges [aria-current]')?.focus({ preventScroll: true })
})
darkScheme.addEventListener('change', drawCharts)

// Let the SVG scale to the width of the printed page.
addEventListener('beforeprint', () => {
  for (const svg of document.querySelectorAll('.chart svg')) {
    svg.setAttribute('viewBox', `0 0 ${svg.getAttribute('width')} ${svg.getAttribute('height')}`)
  }
})

let resizing
addEventListener('resize', () => {
  clearTimeout(resizing)
  // Ignore height changes: on phones, scrolling changes the height.
  resizing = setTimeout(() => innerWidth !== drawnWidth && drawCharts(), 150)
})

drawCharts()
