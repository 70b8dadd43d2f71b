import t from 'tap'
import { getFirstName } from '../../src/checkout/guest-order-view.js'

t.test('a person is greeted by a first name, or by none if it is uncertain', async (t) => {
  for (const [name, expected] of [
    ['Maria Silva', 'Maria'],
    ['  José-Luis  García', 'José-Luis'],
    ['D’Arcy Jones', 'D’Arcy'],
    ['Αναστασία Παπαδοπούλου', 'Αναστασία'],
    ['Ольга', 'Ольга'],
    ['Dr Ann Example', null],
    ['Mrs. Example', null],
    ['J. Smith', null],
    ['The Smith family', null],
    ['M/Y Argo crew', null],
    ['山田 太郎', null],
    ['<b>Ann</b> Example', null],
    ['Wolfeschlegelsteinhausen Example', null],
    ['', null],
  ] as const) {
    t.equal(getFirstName(name), expected, name)
  }
})
