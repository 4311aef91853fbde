#include "poet/compile/variants/variant.h"

#include <utility>

namespace poet {

Variant variant_of(const CompileRequest& request, std::shared_ptr<const Form> form, PagedSet paged) {
  Variant made;
  made.judged = request.choose_paged ? std::make_shared<const Instance>(with_paged(form->instance, paged))
                                     : std::shared_ptr<const Instance>(form, &form->instance);
  made.searched = made.judged;
  made.limits = request.limits;
  if (!request.choose_paged)
    made.scope = Scope::this_form;
  else if (paged.empty())
    made.scope = form->all.empty() ? Scope::this_form : Scope::no_paging;
  made.form = std::move(form);
  made.paged = std::move(paged);
  return made;
}

}  // namespace poet
