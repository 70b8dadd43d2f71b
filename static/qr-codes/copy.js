// Alpine component `copy`: a button that copies the text of `$refs.source`.
document.addEventListener('alpine:init', () => {
  window.Alpine.data('copy', () => ({
    label: 'Copy',
    async copy() {
      try {
        await navigator.clipboard.writeText(this.$refs.source.textContent)
        this.label = 'Copied'
      } catch {
        // Without clipboard access, the text is selected for the user to copy.
        getSelection().selectAllChildren(this.$refs.source)
        this.label = 'Text selected'
      }
      setTimeout(() => (this.label = 'Copy'), 3000)
    },
  }))
})
