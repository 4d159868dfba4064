"""WebShop: a local shop with a search and pages, in which a product is found and bought, judged by a reward."""
