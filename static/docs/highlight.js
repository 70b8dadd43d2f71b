// Colours code with the Custom Highlight API, which needs no markup. Browsers without it show plain
// code.

const TOKENS =
  /(?<name>"[\w-]+"(?=: ))|(?<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`]*`)|(?<comment>(?:^| )(?:\/\/|#).*|\/\*[^]*?\*\/)|(?<keyword>(?<![.\w])(?:async|await|catch|class|const|curl|def|except|for|from|function|if|import|in|new|not|raise|return|throw|try|with)\b)|(?<number>(?<![\w./:-])\d[\d.]*(?![\w./:-])|\b(?:true|false|null|True|False|None)\b)/gm

const highlights = new Map()

function addRange(type, node, start, end) {
  const range = new StaticRange({
    startContainer: node,
    startOffset: start,
    endContainer: node,
    endOffset: end,
  })
  let highlight = highlights.get(type)
  if (!highlight) {
    highlight = new Highlight()
    highlights.set(type, highlight)
    CSS.highlights.set(`code-${type}`, highlight)
  }
  highlight.add(range)
}

function colour(code) {
  const node = code.firstChild
  for (const { groups, index, 0: text } of node?.data?.matchAll(TOKENS) ?? []) {
    const [type] = Object.entries(groups).find(([, value]) => value !== undefined)
    addRange(type, node, index, index + text.length)
  }
}

/** Colours the code blocks below an element when they come into view. */
export function highlightCode(root) {
  if (!CSS.highlights) return
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue
        observer.unobserve(target)
        colour(target)
      }
    },
    { rootMargin: '400px' },
  )
  for (const code of root.querySelectorAll('.code pre > code')) observer.observe(code)
}
