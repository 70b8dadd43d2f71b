import type { EditForm, EditGroup } from './edit-form.js'
import type { EntryView } from './history-view.js'

/** Why an action was rejected, and what to do. */
export interface Notice {
  title: string
  text: string
  /** The changes that caused a version conflict */
  entries: EntryView[]
}

/** The state of an order's page, in addition to the order. Features add the state of their sections. */
export interface OrderPageState {
  /** The group being edited */
  form?: EditForm
  /** The order has changed since the form was opened */
  hasConflict?: boolean
  /** The group that gets the focus after an edit */
  editedGroup?: EditGroup
  notice?: Notice
}
