// A button that copies the text beside it (Alpine component `copy`).
document.addEventListener('alpine:init', () => {
  window.Alpine.data('copy', () => ({
    label: 'Copy',
    async copy() {
      try {
        await navigator.clipboard.writeText(this.$refs.source.textContent)
        this.label = 'Copied'
      } catch {
        getSelection().selectAllChildren(this.$refs.source)
        this.label = 'Selected: copy it now'
      }
      setTimeout(() => (this.label = 'Copy'), 3000)
    },
  }))
})
