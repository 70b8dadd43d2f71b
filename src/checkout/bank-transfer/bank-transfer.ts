import type { Config } from '../../core/config/config.js'
import type { Day, DayCalendar } from '../../core/formatting/day-calendar.js'
import { getMinorUnitDigits } from '../../core/formatting/number-formatter.js'
import { createQrMatrix, renderPng, toPngDataUrl } from '../../core/html/qr-image.js'
import { DAY_MS } from '../../core/time.js'
import type { Order } from '../../orders/order.js'
import {
  buildEpcPayload,
  formatIban,
  toElectronicIban,
  type PaymentAccount,
} from './epc-payload.js'

/** Quiet zone, in modules (ISO/IEC 18004, section 9.1) */
const QR_MARGIN = 4
/** Sharp on screens with three pixels per CSS pixel, and still less than 2 kB */
const PIXELS_PER_MODULE = 8

const dates = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' })

function renderCode(payload: string): string {
  const matrix = createQrMatrix(payload, 'M')
  const size = (matrix.modules + 2 * QR_MARGIN) * PIXELS_PER_MODULE
  return toPngDataUrl(renderPng(matrix, size, QR_MARGIN))
}

type BankTransferConfig = Pick<
  Config,
  | 'BRAND_NAME'
  | 'INVOICE_DUE_DAYS'
  | 'PAYMENT_ACCOUNT_NAME'
  | 'PAYMENT_BIC'
  | 'PAYMENT_IBAN'
  | 'PAYMENT_INSTRUCTIONS'
>

/** The account from the configuration; `null` without PAYMENT_IBAN. */
const getPaymentAccount = (config: BankTransferConfig): PaymentAccount | null =>
  config.PAYMENT_IBAN === undefined
    ? null
    : {
        name: config.PAYMENT_ACCOUNT_NAME ?? config.BRAND_NAME,
        iban: toElectronicIban(config.PAYMENT_IBAN),
        bic: config.PAYMENT_BIC ?? null,
      }

/**
 * The last day to pay an order by bank transfer.
 *
 * @param calendar of the service's time zone
 */
const getDueDay = (
  { placedAt }: Pick<Order, 'placedAt'>,
  calendar: DayCalendar,
  { INVOICE_DUE_DAYS }: Pick<Config, 'INVOICE_DUE_DAYS'>,
): Day => calendar.dayOf(Date.parse(placedAt)) + INVOICE_DUE_DAYS

/** Returns a function that says how an order is paid by bank transfer. */
export function createBankTransfers(config: BankTransferConfig, calendar: DayCalendar) {
  const account = getPaymentAccount(config)
  // Some platforms cannot store line breaks in variables.
  const instructions = config.PAYMENT_INSTRUCTIONS?.replaceAll('\\n', '\n') ?? null
  return (order: Order) => {
    const { orderNumber: reference, amountMinor, currency } = order
    const dueDay = getDueDay(order, calendar, config)
    const digits = getMinorUnitDigits(currency)
    const epcPayload = account && buildEpcPayload(account, order, reference)
    return {
      reference,
      /** Without the currency, to paste into the form of a bank */
      plainAmount: (amountMinor / 10 ** digits).toFixed(digits),
      /** `null` without PAYMENT_IBAN */
      account: account && { ...account, printedIban: formatIban(account.iban) },
      /** PAYMENT_INSTRUCTIONS, with line breaks; `null` if there are none */
      instructions,
      dueOn: dates.format(dueDay * DAY_MS),
      isOverdue: calendar.dayOf(Date.now()) > dueDay,
      /** Content of the code for banking apps; `null` if there is no code */
      epcPayload,
      /** The code as a data URL */
      qrCode: epcPayload && renderCode(epcPayload),
    }
  }
}

export type BankTransfer = ReturnType<ReturnType<typeof createBankTransfers>>
