import type { LinkPurpose } from './account-links.js'

/** What a user is notified of by email. The notices are stored, so never rename one. */
export type Notice =
  | 'sign_in.failed'
  | 'sign_in.new_device'
  | 'password.changed'
  | 'second_factor.added'
  | 'second_factor.removed'
  | 'recovery_codes.created'

/** A notice that is waiting to be sent. */
export interface NoticePayload {
  email: string
  /** When it happened, ms since 1970 */
  at: number
  /** Who did it: the browser and address of the user, or the email of an owner */
  by: string
}

interface NoticeText {
  title: (brand: string) => string
  text: string
}

export const NOTICE_TEXTS: Record<Notice, NoticeText> = {
  'sign_in.failed': {
    title: (brand) => `Failed sign-in to your ${brand} account`,
    text: 'Someone entered a wrong code after your password, or too many wrong passwords. You receive this email at most once a day.',
  },
  'sign_in.new_device': {
    title: (brand) => `New sign-in to your ${brand} account`,
    text: 'Someone signed in to your account with a browser or program that has not been used for it before.',
  },
  'password.changed': {
    title: (brand) => `Your ${brand} password was changed`,
    text: 'Your account has a new password.',
  },
  'second_factor.added': {
    title: (brand) => `New second factor for your ${brand} account`,
    text: 'A passkey or an authenticator app was added to your account.',
  },
  'second_factor.removed': {
    title: (brand) => `Second factor removed from your ${brand} account`,
    text: 'A passkey or an authenticator app was removed from your account.',
  },
  'recovery_codes.created': {
    title: (brand) => `New recovery codes for your ${brand} account`,
    text: 'New recovery codes were created for your account. The previous ones no longer work.',
  },
}

/** What all notices have in common. */
export const NOTICE_FRAME = {
  link: 'Open your account',
  footer:
    'If it was not you, change your password, sign out all other devices, and tell an owner of this service.',
}

export const isNotice = (type: string): type is Notice => Object.hasOwn(NOTICE_TEXTS, type)

/** The text of an email, apart from the URL of its link. */
export interface MailText {
  title: (brand: string) => string
  paragraphs: string[]
  link: string
  footer: string
}

export const LINK_TEXTS: Record<LinkPurpose, MailText> = {
  invitation: {
    title: (brand) => `You are invited to ${brand}`,
    paragraphs: [
      'An administrator created an account for this email address. Choose a password to start using it.',
      'The link works once, within 72 hours.',
    ],
    link: 'Choose a password',
    footer: 'If you do not expect this invitation, ignore this email.',
  },
  'password-reset': {
    title: (brand) => `Reset your ${brand} password`,
    paragraphs: [
      'Someone asked to reset the password of your account. If it was you, choose a new password.',
      'The link works once, within 30 minutes.',
    ],
    link: 'Choose a new password',
    footer: 'If it was not you, ignore this email: your password has not changed.',
  },
}
